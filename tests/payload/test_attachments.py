"""Media leave a result: stored as files, each once, never text that a model pays for."""

from __future__ import annotations

import base64

import pytest

from bridge.excerpt.deadline import Deadline
from bridge.payload.attachments import MOST_ATTACHMENTS, AttachmentExtractor

PNG = base64.b64encode(b"\x89PNG some image").decode()


def extractor(kept=None):
    def keep(content, media_type):
        if kept is None:
            return {"reason": "no_store"}
        kept.append((content, media_type))
        return {"path": f"/kept/{len(kept)}"}

    return AttachmentExtractor(keep, Deadline(60))


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "data": PNG, "mimeType": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"resource": {"blob": PNG, "mime_type": "image/png"}},
        f"![x](data:image/png;charset=utf-8;base64,{PNG})",
    ],
)
def test_every_form_of_a_medium_becomes_an_attachment_and_a_note(block):
    kept = []
    made = extractor(kept)
    value = made.extract({"content": [block, "text"]})
    assert kept == [(b"\x89PNG some image", "image/png")]
    assert PNG not in str(value)
    assert "[attachment 1: image/png, 15 bytes]" in str(value)
    assert made.attachments[0]["path"] == "/kept/1"


def test_the_same_medium_again_is_the_same_attachment():
    kept = []
    made = extractor(kept)
    made.extract([f"data:image/png;base64,{PNG}"] * 3)
    assert len(kept) == len(made.attachments) == 1


def test_what_cannot_be_kept_stays_in_its_attachment():
    made = extractor()
    made.extract(f"data:image/png;base64,{PNG}")
    assert (made.attachments[0]["data"], made.attachments[0]["reason"]) == (PNG, "no_store")


def test_attachments_are_bounded_in_number_and_what_is_beyond_stays_where_it_was():
    kept = []
    made = extractor(kept)
    uris = [f"data:a/b;base64,{number:016d}" for number in range(MOST_ATTACHMENTS + 5)]
    value = made.extract(uris)
    assert len(kept) == len(made.attachments) == MOST_ATTACHMENTS
    assert value[MOST_ATTACHMENTS:] == uris[MOST_ATTACHMENTS:]


def test_of_a_page_only_its_own_text_is_left_as_it_is():
    uri = f"data:image/png;base64,{PNG}"
    value = extractor([]).extract({"content": uri, "beside": uri}, page=True)
    assert value == {"content": uri, "beside": "[attachment 1: image/png, 15 bytes]"}
