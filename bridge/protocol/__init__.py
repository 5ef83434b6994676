"""The words on the wire: names, identifiers, errors, parameters of methods and their results, the OpenRPC document.

Offers ``names``, ``errors``, ``models``, ``results``, ``reasons``, ``openrpc``. Imports only ``limits``.
"""
