"""Complete outputs on disk and the ledger of saved projections, below one home.

Offers ``outputs.Outputs`` and ``ledger.Ledger``. Imports ``excerpt``, ``protocol`` and ``limits``; it is handed to the
normalizer by whoever builds one. SQLite takes longer to import than a worker has to answer its first request, so a
worker imports this package after that.
"""
