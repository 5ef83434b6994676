"""Surrogates inside a Python text: a pair of them is one character, as in the escapes of JSON; a lone one is none."""

from __future__ import annotations


def joined(text: str) -> str:
    """Return ``text`` with each pair of surrogates as the character that it stands for; lone ones stay."""
    if _has_utf_8(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def well_formed(text: str) -> tuple[str, int]:
    """Return ``text`` with pairs joined and every lone surrogate as U+FFFD, and how many lone ones there were."""
    if _has_utf_8(text):
        return text, 0
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole, whole.count("\ufffd") - text.count("\ufffd")


def _has_utf_8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
