"""The published shapes are the shapes that the worker checks, calls and gives back."""

import json
import re

import pytest
from pydantic import TypeAdapter, ValidationError

from bridge.limits import Limits
from bridge.protocol import openrpc
from bridge.protocol.errors import BY_CODE, InvalidParams
from bridge.protocol.models import Identifier, Initialize
from bridge.protocol.names import check_identifiers
from bridge.protocol.results import Initialized
from bridge.settings import Settings
from bridge.worker.methods import METHODS, initialize
from bridge.worker.services import Worker


def test_the_document_has_the_methods_and_parameters_that_are_called():
    assert list(openrpc.METHODS) == list(METHODS)
    for name, (params, _) in openrpc.METHODS.items():
        assert METHODS[name].params is params


def test_every_method_is_in_the_document():
    document = openrpc.document("0")
    assert [method["name"] for method in document["methods"]] == list(METHODS)
    assert all(method["summary"] for method in document["methods"])


def test_every_reference_in_the_document_leads_somewhere():
    document = openrpc.document("0")
    references = []

    def collect(value):
        if isinstance(value, dict):
            references.extend([value["$ref"]] if "$ref" in value else [])
            value = list(value.values())
        for inner in value if isinstance(value, list) else []:
            collect(inner)

    collect(document)
    assert references
    for reference in references:
        assert reference.removeprefix(openrpc.SCHEMAS) in document["components"]["schemas"]


def test_the_document_names_every_limit_with_its_smallest_value_and_its_default():
    described = openrpc.document("0")["methods"][0]["params"][1]["schema"]["anyOf"][0]["properties"]
    for name, schema in described.items():
        assert schema["default"] == getattr(Limits(), name)
        Limits(**{name: schema["minimum"]})
        with pytest.raises(ValueError, match=name):
            Limits(**{name: schema["minimum"] - 1})


def test_the_document_names_every_error():
    errors = openrpc.document("0")["components"]["errors"].values()
    assert {error["code"] for error in errors} == set(BY_CODE)


def test_the_document_is_json():
    json.dumps(openrpc.document("0"), allow_nan=False)


def test_initialize_gives_what_the_document_says(tmp_path):
    told = initialize(Worker(Settings(home=tmp_path)), Initialize(client={}))
    TypeAdapter(Initialized).validate_python(told, strict=True)


def test_the_published_pattern_of_ids_is_the_one_that_is_checked():
    """OpenRPC's patterns are ECMA's, where $ is the end of the text and nothing else."""
    adapter = TypeAdapter(Identifier)
    published = re.compile(adapter.json_schema()["pattern"].replace("$", r"\Z"))
    for name in ("a", "A.b-c_9", "0", "functions.bash:0", "call_1|fc_2", "_x", ".hidden", "...", "é ☃", "a" * 512):
        check_identifiers(call_id=name)
        assert adapter.validate_python(name) == name
        assert published.search(name)
    for name in ("", ".", "..", "../x", "/x", "a/b", "a\\b", "a" * 513, "a\n", "a\x00", "\x7f", "\x85"):
        assert not published.search(name)
        with pytest.raises(ValidationError):
            adapter.validate_python(name)
        with pytest.raises(InvalidParams):
            check_identifiers(call_id=name)


def test_every_id_that_is_no_name_is_named():
    with pytest.raises(InvalidParams) as refusal:
        check_identifiers(session_id="../x", call_id="")
    assert set(refusal.value.data["fields"]) == {"session_id", "call_id"}
