from __future__ import annotations

import json

import bridge
from bridge.protocol.openrpc import document


def test_it_is_the_document_that_a_worker_gives(ask):
    assert json.loads(ask("schema")) == document(bridge.__version__)
