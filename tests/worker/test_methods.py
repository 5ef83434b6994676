"""What each method makes of its parameters, against small stand-ins for the services behind it."""

from dataclasses import asdict

import pytest
from recorders import Recorders

from bridge import __version__
from bridge.limits import Limits
from bridge.protocol.errors import InvalidParams, StoreUnavailable
from bridge.protocol.models import ToolCall, validate
from bridge.settings import DEFAULT_MUTATION_TOOLS, Settings
from bridge.worker.methods import METHODS
from bridge.worker.services import Worker


@pytest.fixture
def worker(tmp_path):
    return Worker(Settings(home=tmp_path), Recorders)


def call(worker, method, *positional, **named):
    """Call a method as the wire does: by position or by name."""
    params, function = METHODS[method]
    return function(worker, validate(params, named, positional))


def fields(*arguments, **named):
    with pytest.raises(InvalidParams) as caught:
        call(*arguments, **named)
    return caught.value.data["fields"]


class TestInitialize:
    def test_it_says_what_the_worker_is(self, worker, tmp_path):
        told = call(worker, "initialize", {"name": "test"})
        assert told.pop("pid") > 0
        assert told == {
            "server": "rind-bridge",
            "version": __version__,
            "protocol": 1,
            "methods": list(METHODS),
            "limits": asdict(Limits()),
            "payload_texts": False,
            "structural_tools": ["read_file"],
            "mutation_tools": list(DEFAULT_MUTATION_TOOLS),
            "home": str(tmp_path),
        }

    def test_limits_replace_those_of_the_call_before(self, worker):
        call(worker, "initialize", {}, {"model_max_bytes": 3_000})
        told = call(worker, "initialize", {}, {"terminal_max_bytes": 2_000})
        assert told["limits"] == asdict(Limits(terminal_max_bytes=2_000))
        assert worker.services.settings.limits == Limits(terminal_max_bytes=2_000)

    def test_the_same_limits_keep_the_services(self, worker):
        services = worker.services
        call(worker, "initialize", {}, {"model_max_bytes": Limits().model_max_bytes})
        assert worker.services is services

    def test_texts_are_payloads_only_where_the_client_or_the_environment_says_so(self, tmp_path):
        worker = Worker(Settings(home=tmp_path, payload_texts=True), Recorders)
        for given, expected in ((None, True), (False, False), (True, True)):
            assert call(worker, "initialize", client={}, payload_texts=given)["payload_texts"] is expected
            assert worker.services.settings.payload_texts is expected

    @pytest.mark.parametrize(
        ("limits", "named"),
        [
            ({"model_max_bytes": 1}, "model_max_bytes"),
            ({"nope": 1}, "nope"),
            ({"model_max_lines": True}, "model_max_lines"),
            ({"output_max_age_days": 10**400}, "output_max_age_days"),
        ],
    )
    def test_a_wrong_limit_is_named_and_changes_nothing(self, worker, limits, named):
        assert named in fields(worker, "initialize", {"ruby": "3.4.0"}, limits)["limits"]
        assert worker.settings.limits == Limits()
        assert not worker.ruby_3_4

    @pytest.mark.parametrize(
        ("version", "newer"),
        [
            ("3.1.2", False),
            ("3.3.9", False),
            ("3.4", True),
            ("3.4.0dev", True),
            ("3.10.1", True),
            ("4.0.0", True),
        ],
    )
    def test_the_clients_ruby_switches_how_hashes_are_printed(self, worker, version, newer):
        call(worker, "initialize", {"ruby": version})
        printed = '{"a" => 1}' if newer else '{"a"=>1}'
        assert call(worker, "ui_preview", [{"a": 1}]) == f"[{printed}]"
        call(worker, "initialize", {})
        assert call(worker, "ui_preview", [{"a": 1}]) == '[{"a"=>1}]'

    @pytest.mark.parametrize("version", ["", "three", "3", 3.4, ["3.4.1"], True])
    def test_a_wrong_version_of_ruby_is_named(self, worker, version):
        assert list(fields(worker, "initialize", {"ruby": version})) == ["client.ruby"]

    @pytest.mark.parametrize(
        ("version", "printed"), [("2.6.1", "1.0e+15"), ("2.14.1", "1.0e+15"), ("2.21.0", "1e+15"), ("3.1.0", "1e+15")]
    )
    def test_the_clients_json_switches_how_floats_are_printed(self, worker, version, printed):
        call(worker, "initialize", client={"json": version})
        assert call(worker, "ui_preview", {"a": 1e15}) == f'{{"a":{printed}}}'
        call(worker, "initialize", client={})
        assert call(worker, "ui_preview", {"a": 1e15}) == '{"a":1.0e+15}'

    @pytest.mark.parametrize("version", ["", "two", "2", 2.15])
    def test_a_wrong_version_of_json_is_named(self, worker, version):
        assert list(fields(worker, "initialize", client={"json": version})) == ["client.json"]


class TestPreview:
    def test_a_structural_result_is_the_very_object(self, worker):
        result = {"content": "a", "path": "b"}
        assert call(worker, "ui_preview", result=result, name="read_file") is result

    def test_the_limit_is_preview_max_chars_where_none_is_given(self, worker):
        call(worker, "initialize", {}, {"preview_max_chars": 10})
        assert call(worker, "ui_preview", "x" * 20) == "x" * 7 + "..."
        assert call(worker, "ui_preview", "x" * 20, None) == "x" * 7 + "..."
        assert call(worker, "ui_preview", "x" * 20, 20) == "x" * 20


class TestCompletion:
    def test_normalize_hands_every_parameter_on(self, worker):
        given = call(worker, "normalize", [1], "bash", "failed", "Boom", "s", "c", {"command": "x"})
        assert given == {"called": "normalize"}
        ((_, (handed_on,), _),) = worker.services.normalizer.calls
        assert handed_on == ToolCall(
            result=[1],
            name="bash",
            status="failed",
            error_type="Boom",
            session_id="s",
            call_id="c",
            args={"command": "x"},
        )

    @pytest.mark.parametrize("field", ["session_id", "call_id"])
    @pytest.mark.parametrize(
        "identifier", ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "a" * 513, "a\x00", "a\n", "\x85"]
    )
    def test_an_id_that_is_a_path_is_refused(self, worker, field, identifier):
        assert list(fields(worker, "normalize", result=1, name="bash", **{field: identifier})) == [field]
        assert list(fields(worker, "tool_completed", result=1, name="bash", **{field: identifier})) == [field]
        assert worker.services.normalizer.calls == []

    def test_tool_completed_adds_the_echo(self, worker):
        given = call(worker, "tool_completed", result="x" * 20, name="bash", limit=10)
        assert given == {"called": "normalize", "preview": {"kind": "echo", "text": "x" * 7 + "..."}}

    def test_tool_completed_does_not_send_back_what_passes_through(self, worker):
        given = call(worker, "tool_completed", {"content": "x"}, "read_file")
        assert given == {"called": "normalize", "preview": {"kind": "structure"}}

    def test_a_structural_tool_that_gives_no_object_has_an_echo(self, worker):
        given = call(worker, "tool_completed", "gone", "read_file")
        assert given["preview"] == {"kind": "echo", "text": "gone"}


class TestStores:
    def test_a_page_of_an_output(self, worker):
        assert call(worker, "read_output", "s", "c", 5, 2, 10, "stderr") == {"called": "read"}
        assert worker.services.outputs.calls == [("read", ("s", "c", 5, 2, 10, "stderr"), {})]

    def test_replay(self, worker):
        assert call(worker, "replay", "s", 7, 10) == {"called": "replay"}
        assert worker.services.ledger.calls == [("replay", ("s", 7, 10), {})]

    def test_lookup(self, worker):
        assert call(worker, "lookup", "s", "c") == {"called": "lookup"}
        assert worker.services.ledger.calls == [("lookup", ("s", "c"), {})]

    def test_forget(self, worker):
        assert call(worker, "forget", "s") == {"called": "forget"}
        assert worker.services.outputs.calls == [("forget", ("s",), {})]

    @pytest.mark.parametrize("number", [0, -1, 2**64 - 1, 10**4_000])
    def test_a_number_that_no_page_can_have_is_refused_and_named(self, worker, number):
        assert list(fields(worker, "read_output", session_id="s", call_id="c", offset=number)) == ["offset"]
        assert list(fields(worker, "replay", session_id="s", limit=number)) == ["limit"]

    def test_cleanup(self, worker):
        assert call(worker, "cleanup") == {"called": "cleanup"}

    @pytest.mark.parametrize(
        "given",
        [("read_output", "../s", "c"), ("read_output", "s", ""), ("replay", "/s")],
    )
    def test_an_id_that_is_a_path_is_refused(self, worker, given):
        assert fields(worker, *given)

    @pytest.mark.parametrize(
        "given",
        [("read_output", "s", "c"), ("replay", "s"), ("cleanup",)],
    )
    def test_a_store_that_is_not_there_is_told(self, worker, given):
        worker.services.outputs = worker.services.ledger = None
        with pytest.raises(StoreUnavailable) as caught:
            call(worker, *given)
        assert "could not be opened" in caught.value.data["reason"]


def test_shutdown_gives_null_and_lets_the_worker_end(worker):
    assert call(worker, "shutdown") is None
    assert worker.stopping
