"""The published shapes are the shapes that the worker checks, calls and gives back."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from bridge.limits import Limits
from bridge.protocol import openrpc
from bridge.protocol.errors import BY_CODE, InvalidParams
from bridge.protocol.names import check_identifiers
from bridge.settings import Settings
from bridge.worker.methods import METHODS, initialize
from bridge.worker.state import Worker

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
# Whether a text may be an id and what stands inside client and limits is judged by the method itself.
INSIDE = {"session_id": st.just("s1"), "call_id": st.just("c1"), "client": st.just({}), "limits": st.just({})}


@pytest.mark.parametrize("name", METHODS)
class TestParams:
    def test_the_document_has_the_parameters_that_are_checked_in_their_order(self, name):
        model, _ = openrpc.METHODS[name]
        method = METHODS[name]
        assert list(model.model_fields) == list(method.checks)
        required = {field for field, info in model.model_fields.items() if info.is_required()}
        assert required == method.required

    @settings(deadline=None)
    @given(data=st.data())
    def test_the_checks_accept_what_the_document_accepts(self, name, data):
        model, _ = openrpc.METHODS[name]
        known = {field: INSIDE.get(field, VALUES) | st.integers() | st.none() for field in METHODS[name].checks}
        params = data.draw(st.fixed_dictionaries({}, optional={**known, "other": VALUES}))
        assert accepted(model, params) == bound(METHODS[name], params)


def accepted(model, params):
    try:
        model.model_validate(params)
    except ValidationError:
        return False
    return True


def bound(method, params):
    try:
        method.bind([], params)
    except InvalidParams:
        return False
    return True


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
    openrpc.Initialized.model_validate(initialize(Worker(Settings(home=tmp_path)), {}))


def test_the_published_pattern_of_ids_is_the_one_that_is_checked():
    """Pydantic's patterns are Rust's and OpenRPC's are ECMA's, so the pattern must mean the same in all."""
    adapter = TypeAdapter(openrpc.Identifier)
    for name in ("a", "A.b-c_9", "0", "a" * 128):
        check_identifiers(call_id=name)
        assert adapter.validate_python(name) == name
    for name in ("", ".", "..", "../x", "/x", "a/b", "-a", "a" * 129, "é", "a\n", "a\x00"):
        with pytest.raises(ValidationError):
            adapter.validate_python(name)
        with pytest.raises(InvalidParams):
            check_identifiers(call_id=name)


def test_every_id_that_is_no_name_is_named():
    with pytest.raises(InvalidParams) as refusal:
        check_identifiers(session_id="../x", call_id="")
    assert set(refusal.value.data["fields"]) == {"session_id", "call_id"}


def test_a_start_does_not_load_the_models():
    """Every start pays for what it imports; pydantic's models would be a tenth of it."""
    program = "import sys, bridge.worker.rpc; print([name for name in sys.modules if name == 'pydantic.main'])"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert loaded.stdout == "[]\n"
