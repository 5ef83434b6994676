"""What the panel shows of a tool result: ``ui_preview``, and how Ruby prints a JSON value.

Offers ``preview`` and ``ruby``. Imports ``protocol``, ``settings`` and ``limits``.
"""
