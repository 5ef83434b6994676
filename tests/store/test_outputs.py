"""Storing: the reference is true, the first content stays, what is too large is kept in part and says so."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.limits import Limits
from bridge.protocol.errors import InvalidParams, OutputMissing
from bridge.store import partial
from bridge.store.outputs import Outputs


def sha(content):
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("content", [b"", b"\n", b"a", b"a\nb", b"a\nb\n", b"\xff\xfe", b"a\r\nb\r"])
def test_a_reference_says_what_lies_on_the_disk(outputs, content):
    reference = outputs.store("session", "call", content)
    stored = Path(reference["path"]).read_bytes()
    assert stored == content
    assert reference == {
        "path": str(outputs.home / "outputs/session/call.txt"),
        "bytes": len(content),
        "lines": len(content.split(b"\n")) - (content == b"" or content.endswith(b"\n")),
        "sha256": sha(content),
    }


def test_a_reference_names_the_field_whose_text_it_is(outputs):
    assert outputs.store("s", "c", b"text", field="result")["field"] == "result"


def test_what_was_never_stored_is_missing_with_that_reason(outputs):
    with pytest.raises(OutputMissing) as caught:
        outputs.read("s", "c")
    assert caught.value.data["reason"] == "never_stored"


def test_the_same_content_again_changes_nothing_and_gives_the_same_reference(outputs):
    first = outputs.store("s", "c", b"text\n", field="result")
    before = Path(first["path"]).stat()
    assert outputs.store("s", "c", b"text\n", field="result") == first
    assert Path(first["path"]).stat() == before


def test_other_content_for_the_same_ids_is_refused_and_the_first_stays(home, outputs):
    outputs.store("s", "c", b"first\n")
    for again in (outputs, Outputs(home, Limits())):
        answer = again.store("s", "c", b"second\n")
        assert answer["reason"] == "conflict"
        assert "second" not in answer["detail"]
        assert again.read("s", "c")["content"] == "first\n"


def test_the_same_call_id_in_two_sessions_is_two_outputs(outputs):
    outputs.store("one", "c", b"1")
    outputs.store("two", "c", b"2")
    assert outputs.read("one", "c")["content"] == "1"
    assert outputs.read("two", "c")["content"] == "2"


@pytest.mark.parametrize(
    "bad",
    [
        "../x",
        "..",
        ".",
        "/etc/passwd",
        "",
        "x" * 513,
        "a/b",
        "a\0b",
        "a\n",
        "\x85",
        "a\\b",
        "\ud800",
        None,
        1,
    ],
)
def test_ids_that_are_not_names_are_refused_and_nothing_is_written(home, outputs, bad):
    for call in (
        lambda: outputs.store(bad, "c", b""),
        lambda: outputs.store("s", bad, b""),
        lambda: outputs.store_attachment(bad, "c", b"", "image/png"),
        lambda: outputs.read(bad, "c"),
        lambda: outputs.read("s", bad),
    ):
        with pytest.raises(InvalidParams) as caught:
            call()
        assert set(caught.value.data["fields"]) <= {"session_id", "call_id"}
    assert not home.exists()


@pytest.mark.parametrize("name", ["x" * 128, "a.txt", "a.", "a..b", "CON", "a-", "1"])
def test_every_permitted_id_names_a_file(outputs, name):
    outputs.store(name, name, name.encode())
    assert outputs.read(name, name)["content"] == name


def test_folders_and_files_are_for_their_owner_alone(home, outputs):
    outputs.store("s", "c", b"text")
    outputs.store_attachment("s", "c", b"png", "image/png")
    for path in [home, *home.rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_a_file_that_someone_changed_is_damaged_even_after_it_was_read(outputs):
    path = Path(outputs.store("s", "c", b"text\n")["path"])
    assert outputs.read("s", "c")["content"] == "text\n"
    for changed in (b"texT\n", b"text", b""):
        path.write_bytes(changed)
        with pytest.raises(OutputMissing) as caught:
            outputs.read("s", "c")
        assert caught.value.data == {"reason": "damaged", "detail": "the file is not what was written"}
    path.write_bytes(b"text\n")
    assert outputs.read("s", "c")["content"] == "text\n"


def test_a_worker_answers_its_first_request_before_it_imports_what_is_slow():
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from bridge.settings import Settings\n"
        "from bridge.worker.framing import LineReader\n"
        "from bridge.worker.rpc import Server\n"
        "from bridge.worker.services import Worker\n"
        "server = Server(Worker(Settings(home=Path('x'))))\n"
        'line = b\'{"jsonrpc":"2.0","id":1,"method":"ping"}\\n\'\n'
        "assert all(b'pong' in server.answer(event) for event in LineReader(1_024).feed(line))\n"
        "print([name for name in ('bridge.store', 'bridge.projections', 'sqlite3', 'regex') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


# Attachments


def test_an_attachment_is_kept_under_a_name_that_fits_its_type(outputs):
    reference = outputs.store_attachment("s", "c", b"\x89PNG", "image/png")
    path = Path(reference.pop("path"))
    assert path.read_bytes() == b"\x89PNG"
    assert path.suffix == ".png"
    assert reference == {"bytes": 4, "sha256": sha(b"\x89PNG"), "media_type": "image/png"}


@pytest.mark.parametrize(
    ("media_type", "suffix"),
    [("text/plain; charset=utf-8", ".txt"), ("IMAGE/JPEG", ".jpg"), ("x/../../y", ".bin"), ("", ".bin")],
)
def test_a_media_type_never_becomes_a_path(outputs, media_type, suffix):
    assert outputs.store_attachment("s", "c", b"1", media_type)["path"].endswith(suffix)


def test_a_call_may_have_several_attachments_and_the_same_one_is_kept_once(home, outputs):
    first = outputs.store_attachment("s", "c", b"one", "image/png")
    second = outputs.store_attachment("s", "c", b"two", "image/png")
    assert outputs.store_attachment("s", "c", b"one", "image/png") == first
    assert first["path"] != second["path"]
    assert len(list((home / "attachments/s").iterdir())) == 2


def test_an_attachment_that_is_too_large_is_not_kept_at_all(home):
    outputs = Outputs(home, Limits(output_file_max_bytes=4_096))
    answer = outputs.store_attachment("s", "c", b"x" * 4_097, "image/png")
    assert answer["reason"] == "too_large"
    assert "path" in outputs.store_attachment("s", "c", b"x" * 4_096, "image/png")


# In part


def test_an_output_at_its_limit_is_whole_and_one_byte_more_is_kept_in_part(home):
    outputs = Outputs(home, Limits(output_file_max_bytes=4_096))
    assert "partial" not in outputs.store("s", "at", b"x" * 4_096)
    assert outputs.store("s", "over", b"x" * 4_097)["partial"] is True


def test_an_output_that_is_kept_in_part_says_what_is_gone_and_where(home):
    outputs = Outputs(home, Limits(output_file_max_bytes=5_000))
    lines = [f"line {number}\n" for number in range(1, 2_001)]
    content = "".join(lines).encode()
    reference = outputs.store("s", "c", content)
    stored = Path(reference["path"]).read_bytes()
    kept = stored.decode().splitlines(keepends=True)
    at = reference["gone_at_line"]
    head, tail = kept[: at - 1], kept[at:]
    assert head == lines[: len(head)]
    assert tail == lines[-len(tail) :]
    assert len(stored) == reference["bytes"] <= 5_000
    assert sha(stored) == reference["sha256"]
    assert reference["lines"] == len(kept)
    assert reference["total_bytes"] == len(content)
    assert reference["gone_bytes"] == len(content) - len("".join(head + tail))
    assert reference["gone_line_ends"] == 2_000 - len(head) - len(tail)
    assert f"{reference['gone_bytes']:,} bytes" in kept[at - 1]


def test_pages_of_a_part_say_that_it_is_one(home):
    outputs = Outputs(home, Limits(output_file_max_bytes=5_000))
    reference = outputs.store("s", "c", b"line\n" * 2_000)
    page = outputs.read("s", "c")
    for name in ("partial", "gone_bytes", "gone_line_ends", "gone_at_line"):
        assert page[name] == reference[name]


def test_the_same_large_content_again_gives_the_same_reference_whatever_the_limit_is_now(home):
    content = b"line\n" * 10_000
    first = Outputs(home, Limits(output_file_max_bytes=5_000)).store("s", "c", content)
    again = Outputs(home, Limits(output_file_max_bytes=9_000))
    assert again.store("s", "c", content) == first
    assert again.store("s", "c", content + b"more")["reason"] == "conflict"


CHARACTERS = st.sampled_from(["x", "é", "€", "👍", "\n"])


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.lists(st.builds(str.__mul__, CHARACTERS, st.integers(1, 3_000)), min_size=5).map("".join),
    space=st.integers(partial.SMALLEST_SPACE, 6_000),
)
def test_a_part_fits_and_is_head_marker_and_tail_of_whole_characters(text, space):
    content = (text + "\n" + text * 3 + "x" * 6_000).encode()
    part = partial.part_of(content, space)
    head, marker, tail = part.pieces
    assert sum(map(len, part.pieces)) <= space
    head.decode()
    tail.decode()
    assert marker.count(b"\n") == 1
    shown_head = head if content.startswith(head) else head.removesuffix(b"\n")
    assert content.startswith(shown_head)
    assert content.endswith(tail)
    assert len(shown_head) + part.gone_bytes + len(tail) == len(content)
    assert part.gone_lines == content[len(shown_head) : len(content) - len(tail)].count(b"\n")
