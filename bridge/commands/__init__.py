"""The commands for people: inspect, outputs, report, doctor, schema.

Offers ``cli.run``. May import everything; nothing but ``bridge.__main__`` imports it.
"""
