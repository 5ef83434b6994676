"""Texts, JSON values and diffs within a budget of bytes and lines; where a cut may fall; what a terminal shows.

Offers ``text`` (a text), ``tree`` (any JSON value), ``diff``, ``cleaning``, ``graphemes`` and ``budget``.
Imports ``protocol`` and ``limits``; opens no file.
"""
