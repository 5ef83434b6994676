"""Anything within a room: how texts and values are shortened, and where a cut may fall.

budget      how much text fits into so many bytes of JSON, and how a room is shared
clusters    where a text may be cut: not inside what a person sees as one character
clean       what a terminal would show at last
folding     runs of equal lines
highlights  the lines of a dropped middle that decide
scan        many fixed byte strings looked for in one pass
excerpt     a text: head, tail, and what is missing between them
shape       any value, its shape kept as long as it can be
"""
