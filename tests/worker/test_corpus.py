"""Every file of the JSON test suite as lines on the wire, and the tables in docs/protocol.md."""

import protocol_tables as tables
import pytest


@pytest.fixture(scope="module")
def document():
    return tables.DOCUMENT.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    if not tables.CORPUS.is_dir():
        pytest.skip(f"the corpus is not there: {tables.CORPUS}")
    return tables.send_corpus(tables.CORPUS, tmp_path_factory.mktemp("home"))


def test_every_line_of_the_corpus_is_answered_once_and_a_ping_after_each(counts):
    assert sum(counts[kind, "files"] for kind in tables.KINDS) == 318
    for kind in tables.KINDS:
        assert counts[kind, "lines"] == sum(counts[kind, outcome] for outcome in tables.OUTCOMES)


def test_what_must_be_refused_is_never_taken_for_a_request(counts):
    """Lines of n_ files that are JSON by themselves ("4") are invalid requests, all others parse errors."""
    assert counts["n", "a batch of -32600"] == 0


def test_the_document_has_these_counts(document, counts):
    assert tables.section("corpus", tables.corpus_table(counts)) in document


def test_the_document_has_the_methods(document):
    assert tables.section("methods", tables.methods_table()) in document


def test_the_document_has_the_examples_of_the_specification(document):
    assert tables.section("examples", tables.examples_table()) in document
