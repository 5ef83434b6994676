"""Whatever a tool gave back, as JSON values, with media lifted out, in the one form that projections are made of.

Offers ``json_value``, ``attachments`` and ``unified``. Imports ``excerpt``, ``protocol`` and ``limits``; opens no file.
"""
