"""The published shapes are the shapes that the worker checks, calls and gives back."""

import json
import re

import openrpc_examples as calls
import pytest
from jsonschema import Draft202012Validator
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


@pytest.fixture(scope="module")
def document():
    return openrpc.document("0")


def references(value):
    """Yield every reference inside of ``value``."""
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        value = list(value.values())
    for inner in value if isinstance(value, list) else []:
        yield from references(inner)


def components(document):
    """Return the references that lead somewhere."""
    return {f"#/components/{kind}/{name}" for kind, named in document["components"].items() for name in named}


def test_every_reference_in_the_document_leads_somewhere(document):
    assert set(references(document)) <= components(document)


def test_no_component_of_the_document_is_unreferenced(document):
    assert components(document) == set(references(document))


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
    document = openrpc.document("0")
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_initialize_gives_what_the_document_says(tmp_path):
    told = initialize(Worker(Settings(home=tmp_path)), Initialize(client={}))
    assert TypeAdapter(Initialized).validate_python(told, strict=True) == told


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


def strict(value):
    """Return a copy of ``value`` in which an object has the members that are named, and no others."""
    if isinstance(value, list):
        return [strict(item) for item in value]
    if not isinstance(value, dict):
        return value
    closed = {"additionalProperties": False} if isinstance(value.get("properties"), dict) else {}
    return closed | {name: strict(member) for name, member in value.items()}


def faults(document, schema, value):
    """Return where ``value`` is not what ``schema`` of the document says, or has a member beside it."""
    validator = Draft202012Validator({**strict(schema), "components": strict(document["components"])})
    return list(validator.iter_errors(value))


@pytest.fixture(scope="module")
def answers():
    return calls.answers()[1]


@pytest.fixture(scope="module")
def methods(document):
    return {method["name"]: method for method in document["methods"]}


@pytest.mark.parametrize("name", METHODS)
class TestEachMethod:
    def test_a_real_worker_gives_what_the_document_says(self, document, methods, answers, name):
        assert faults(document, methods[name]["result"]["schema"], answers[name]) == []

    def test_its_example_is_a_call_that_was_answered_so(self, document, methods, answers, name):
        (example,) = methods[name]["examples"]
        assert {param["name"]: param["value"] for param in example["params"]} == calls.CALLS[name]
        shown, given = example["result"]["value"], answers[name]
        assert faults(document, methods[name]["result"]["schema"], shown) == []
        assert list(shown) == list(given) if isinstance(given, dict) else shown == given

    def test_the_parameters_of_its_example_are_those_of_the_document(self, document, methods, name):
        described = {param["name"]: param["schema"] for param in methods[name]["params"]}
        required = {param["name"] for param in methods[name]["params"] if param["required"]}
        assert required <= set(calls.CALLS[name])
        for field, value in calls.CALLS[name].items():
            assert faults(document, described[field], value) == []


def test_the_replies_that_only_some_calls_give_are_in_the_document(document, methods):
    """A page that is not the last, a projection that is saved, one that is not kept, a session that is forgotten."""
    result = {"stdout": "line\n" * 50_000, "image": "data:image/png;base64," + "iVBORw0KGgo" * 100, "exit_status": 1}
    wanted = [
        *(
            ("tool_completed", {"result": result, "name": "run", "session_id": "s", "call_id": f"c{n}"})
            for n in range(3)
        ),
        ("tool_completed", {"result": {"content": "x"}, "name": "read_file"}),
        ("tool_completed", {"result": {"ok": True, "diff": "+a", "path": "b"}, "name": "edit_file"}),
        ("tool_completed", {"result": {"task_id": "t", "status": "running", "stdout": "x" * 90_000}, "name": "task"}),
        ("normalize", {"result": [{"row": n} for n in range(9_000)], "name": "rows"}),
        ("read_output", {"session_id": "s", "call_id": "c0", "limit": 1}),
        ("replay", {"session_id": "s", "limit": 1}),
        ("lookup", {"session_id": "s", "call_id": "c1"}),
        ("cleanup", {}),
        ("forget", {"session_id": "s"}),
        ("replay", {"session_id": "s"}),
        ("lookup", {"session_id": "s", "call_id": "c1"}),
    ]
    with calls.serving() as (_, call):
        for method, params in wanted:
            reply = call({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            assert faults(document, methods[method]["result"]["schema"], reply["result"]) == []


def test_every_error_that_a_real_worker_gives_has_the_shape_of_the_document(document, tmp_path):
    missing = {"jsonrpc": "2.0", "id": 1, "method": "read_output", "params": calls.IDS}
    provoked = {
        "ParseError": b"{",
        "InvalidRequest": {},
        "MethodNotFound": {"jsonrpc": "2.0", "id": 1, "method": "nope"},
        "InvalidParams": {"jsonrpc": "2.0", "id": 1, "method": "ui_preview", "params": [1, 2, 3, 4]},
        "RequestTooLarge": b"[" + b"{}," * 6_000_000 + b"1]",
        "OutputMissing": missing,
    }
    with calls.serving() as (_, call):
        told = {name: call(line)["error"] for name, line in provoked.items()}
    (tmp_path / "home").write_text("a file stands where the folder should be")
    with calls.serving(RIND_BRIDGE_HOME=str(tmp_path / "home")) as (_, call):
        told["StoreUnavailable"] = call(missing)["error"]
    with calls.serving(RIND_BRIDGE_REQUEST_MAX_BYTES="1024") as (_, call):
        told["RequestTooLarge, a line"] = call(b"x" * 2_000)["error"]
    for name, error in told.items():
        described = document["components"]["errors"][name.partition(",")[0]]
        assert (error["code"], error["message"]) == (described["code"], described["message"])
        assert ("data" in error) == ("data" in described)
        if "data" in error:
            assert faults(document, described["data"], error["data"]) == []
    assert set(document["components"]["errors"]) - set(told) == {"InternalError"}
