"""The commands for people: inspect, replay, report, outputs, doctor, forget, schema, completion.

Offers ``cli.run``. May import everything; nothing but ``bridge.__main__`` imports it.
"""
