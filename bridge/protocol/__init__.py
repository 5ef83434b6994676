"""The words on the wire: names, identifiers, errors, the shapes of parameters and results, the OpenRPC document.

Offers ``names``, ``errors``, ``openrpc``. Imports only ``limits`` and ``settings``.
"""
