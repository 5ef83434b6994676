"""Results of any size that take much memory for their size: ``SHAPES[name](size)`` gives a tool's name and JSON.

``VALUES`` are many small values, which Python holds in many times the bytes of their JSON; a request of them is
refused where it would need too much. ``TEXTS`` are texts with very much of something in them that is looked for.
"""

from collections.abc import Callable

Shape = Callable[[int], tuple[str, bytes]]


def listed(item: bytes, size: int) -> bytes:
    return b"[" + b",".join([item] * (size // (len(item) + 1))) + b"]"


def with_numbers_beyond_json(value: bytes) -> bytes:
    """Return a list or an object with one member more, a number beyond doubles and one beyond 64 bits."""
    numbers = b"[1e400,%b]" % (b"1" * 30)
    return value[:-1] + (b",%b]" if value.endswith(b"]") else b',"beyond":%b}') % numbers


def _list_of(item: bytes, tool: str = "query") -> Shape:
    return lambda size: (tool, listed(item, size))


def _object_of(item: bytes) -> Shape:
    return lambda size: (
        "query",
        b"{" + b",".join(b'"k%07d":%b' % (at, item) for at in range(size // (len(item) + 12))) + b"}",
    )


def _text_of(piece: str, tool: str = "bash", start: str = '{"stdout":"', end: str = '"}') -> Shape:
    encoded = piece.encode()
    return lambda size: (tool, start.encode() + encoded * (size // len(encoded)) + end.encode())


def _numbered(line: str) -> Shape:
    """Return the shape of a text in which ``%d`` differs from line to line."""
    return lambda size: (
        "bash",
        b'{"stdout":"' + b"".join(line.encode() % at for at in range(size // (len(line) + 4))) + b'"}',
    )


def _change_of(piece: str, start: str = "", end: str = "", field: str = "diff") -> Shape:
    return _text_of(piece, "patch_file", f'{{"ok":true,"{field}":"{start}', f'{end}"}}')


VALUES: dict[str, Shape] = {
    "rows": _list_of(b'{"file":"lib/part1.rb","line":12,"text":"v = compute(i)"}'),
    "empty objects": _list_of(b"{}"),
    "empty lists": _list_of(b"[]", "patch_file"),
    "objects of one member": _list_of(b'{"a":1}'),
    "digits": _list_of(b"1"),
    "fractions": _list_of(b"1.5"),
    "powers of ten": _list_of(b"1e5"),
    "nulls": _list_of(b"null"),
    "letters": _list_of(b'"a"'),
    "names": _object_of(b"1"),
    "names of empty objects": _object_of(b"{}"),
    "deep lists": _list_of(b"[" * 80 + b"]" * 80),
    "deeper than a content": _list_of(b"[" * 150 + b"]" * 150),
    "large integers": _list_of(b"9" * 30),
    "objects of a large integer": _list_of(b'{"a":%b}' % (b"9" * 21)),
    "numbers beyond doubles": _list_of(b'{"a":1e400}'),
    "bodies of a change": _list_of(rb'{"text":"a\nb"}', "patch_file"),
    "lists of lines": _list_of(rb'["a\nb","c"]', "patch_file"),
    "data URIs": _list_of(b'{"a":"data:a/b;base64,QUJDQUJDQUJDQUJD"}'),
}
TEXTS: dict[str, Shape] = {
    "lines of a log": _text_of(r"a line of a log\n"),
    "empty lines": _text_of(r"\n"),
    "deciding lines": _text_of(r"error\n"),
    "two short lines in turns": _text_of(r"a\nb\n"),
    "paths": _text_of(r"a/b\n"),
    "matches of many files": _numbered(r"f%d:1:\n"),
    "JSON lines": _text_of(r"{}\n"),
    "a diff that is printed": _text_of(r"@@ -1 +1 @@\n", start='{"stdout":"--- a\\n+++ b\\n'),
    "overwritten lines": _text_of(r"\ra\n"),
    "returns": _text_of(r"\r"),
    "escapes": _text_of(r"\u001b[31m"),
    "Cyrillic lines": _text_of(r"строка\n"),
    "combining marks": _text_of("\u0301"),
    "a page": _text_of(r"a line\n", "read_file", '{"content":"'),
    "a JSON text": _text_of("[],", start='{"stdout":"[', end='1]"}'),
    "a bare JSON text": _text_of("[],", start='"[', end='1]"'),
    "hunks": _change_of(r"@@ -1 +1 @@\n-a\n+b\n"),
    "one long hunk": _change_of(r"+\n", start=r"@@ -1,9 +1,9 @@\n"),
    "heads of files": _change_of(r"--- a\n+++ b\n", end=r"@@ -1 +1 @@\n"),
    "SEARCH/REPLACE blocks": _change_of(r"<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"),
    "lines of a combined diff": _change_of(r"\n+", start="@@@ -1 -1 +1 @@@"),
    "a body of short lines": _change_of(r"a\n", field="content"),
}
