"""What is saved in a ledger, and how a store refuses."""

from __future__ import annotations

import pytest

from bridge.protocol.errors import OutputMissing


def projection(text="{}"):
    return {
        "model_content": text,
        "model_content_format": "tool_result_v1",
        "model_content_policy": {},
        "attachments": [],
        "output": {"reason": "not_needed"},
    }


def refusal(call):
    with pytest.raises(OutputMissing) as caught:
        call()
    return caught.value.data


def saved(ledger, call_id):
    answer = ledger.save("s", call_id, projection())
    return "ledger" not in answer["model_content_policy"]
