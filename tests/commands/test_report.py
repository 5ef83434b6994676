from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from bridge.store.ledger import Ledger

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "chromium-headless-shell")


def save(home, session, call, *, at=1_700_000_000.0, **policy):
    """Save a call and return the bytes of its content; ``tool`` and ``content`` stand there, all else in its policy."""
    read = {"ok": True, "tool": policy.pop("tool", "bash"), "data": policy.pop("content", "x" * 40)}
    text = json.dumps(read, separators=(",", ":"))
    policy = {"truncated": False, "total_bytes": 10, "total_lines": 1, "losses": [], **policy}
    Ledger(home, clock=lambda: at).save(session, call, {"model_content": text, "model_content_policy": policy})
    return len(text)


@pytest.mark.usefixtures("session")
def test_sums_by_tool_and_by_session_are_those_of_the_calls(ask):
    report = json.loads(ask("report", "--json"))
    calls = json.loads(ask("replay", "s1", "--json"))
    sizes = {call["tool"]: len(call["content"].encode()) for call in calls}
    assert {row["tool"]: row["bytes_model"] for row in report["tools"]} == sizes
    (session,) = report["sessions"]
    assert session["bytes_model"] == report["total"]["bytes_model"] == sum(sizes.values())
    assert (session["calls"], session["failures"]) == (4, 1)
    assert sum(row["share"] for row in report["tools"]) == pytest.approx(1, abs=0.001)


@pytest.mark.usefixtures("session")
def test_a_result_that_was_passed_on_whole_saved_nothing(ask):
    report = json.loads(ask("report", "--json"))
    assert {row["tool"]: row["saved"] == 0 for row in report["tools"]} == {
        "bash": False,
        "screenshot": True,
        "read_file": True,
        "grep": True,
    }
    assert all(row["saved"] == row["bytes_before"] - row["bytes_model"] >= 0 for row in report["tools"])


def test_tokens_are_estimated_by_the_rule_that_is_printed(ask, home):
    size = save(home, "s1", "c1")
    report = json.loads(ask("report", "--json"))
    assert report["total"]["tokens"] == -(-size // 4)
    assert "one token for every 4 bytes" in report["rules"]["tokens"]
    assert "one token for every 4 bytes" in ask("report")


def test_the_ten_costliest_calls_stand_in_their_order(ask, home):
    for number in range(12):
        save(home, "s1", f"c{number}", content="x" * (100 + number))
    costliest = json.loads(ask("report", "--json"))["costliest"]
    assert [row["call_id"] for row in costliest] == [f"c{number}" for number in range(11, 1, -1)]


def test_a_session_alone_is_reported_when_it_is_named(ask, home):
    save(home, "s1", "c1")
    save(home, "s2", "c1", tool="grep")
    report = json.loads(ask("report", "s2", "--json"))
    assert [row["session_id"] for row in report["sessions"]] == ["s2"]
    assert [row["tool"] for row in report["tools"]] == ["grep"]


def test_since_leaves_out_what_is_older(ask, home):
    save(home, "s1", "old")
    Ledger(home).save("s1", "new", {"model_content": "{}", "model_content_policy": {}})
    report = json.loads(ask("report", "--since", "2d", "--json"))
    assert [row["call_id"] for row in report["costliest"]] == ["new"]


def test_what_is_lost_for_good_has_its_reason(ask, home):
    loss = {"at": "here", "bytes": 700, "lines": 9, "recover": None, "reason": "no_ids"}
    save(home, "s1", "c1", truncated=True, losses=[loss])
    (lost,) = json.loads(ask("report", "--json"))["lost"]
    assert (lost["call_id"], lost["bytes"], lost["reason"]) == ("c1", 700, "no_ids")
    assert "Lost for good" in ask("report")


@pytest.mark.usefixtures("session")
def test_a_wide_and_a_narrow_terminal_have_the_bars(terminal):
    for columns in (80, 140):
        assert "█" in terminal("report", columns=columns)


class Page(HTMLParser):
    """Collects the tags of a page and what they point to."""

    def __init__(self):
        super().__init__()
        self.tags, self.links = set(), []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.links += [value for name, value in attributes if name in ("src", "href", "srcset", "action")]


@pytest.fixture
def page(ask, tmp_path, home):
    """Write the page of a session whose tool bears a hostile name."""
    save(home, "s1", "c1", tool='<script>document.title = "ran"</script>', truncated=True, total_bytes=9_000)
    save(home, "s1", "c2", at=1_700_003_600.0)
    file = tmp_path / "report.html"
    assert ask("report", "--html", str(file)) == f"Written: {file}\n"
    return file


def test_the_page_loads_nothing_and_runs_nothing(page):
    text = page.read_text()
    parsed = Page()
    parsed.feed(text)
    assert parsed.links == []
    assert "script" not in parsed.tags
    assert {"svg", "table"} <= parsed.tags
    assert "http" not in re.sub(r'http-equiv="Content', "", text)
    assert "@import" not in text
    assert "url(" not in text


def test_the_page_has_the_figures_of_the_report_and_colours_for_light_and_dark(ask, page):
    total = json.loads(ask("report", "--json"))["total"]
    text = page.read_text()
    assert f"{total['bytes_before']:,} bytes before, {total['bytes_model']:,} for the model" in text
    assert "prefers-color-scheme: dark" in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_draws_the_page(page, tmp_path, scheme):
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no chromium on the PATH draws the page")
    dark = ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", *dark]
    finished = subprocess.run(
        [*command, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    assert "<title>What tool results cost</title>" in finished.stdout
    assert 'aria-label="Context by tool"' in finished.stdout
    shot = tmp_path / "page.png"
    subprocess.run([*command, f"--screenshot={shot}", page.as_uri()], capture_output=True, timeout=120, check=True)
    assert shot.read_bytes().startswith(b"\x89PNG")


def test_a_page_that_cannot_be_written_is_one_sentence_and_leaves_nothing(ask, home, tmp_path):
    save(home, "s1", "c1")
    shown = ask("report", "--html", str(tmp_path / "nosuch" / "report.html"), status=1)
    assert shown.startswith("rind-bridge: ")
    assert "No such file or directory" in shown
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
