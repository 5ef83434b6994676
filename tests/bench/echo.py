"""The yardstick of a round trip: gives each line back; with "json" it parses and prints it between."""

import sys

import orjson

transform = (lambda line: orjson.dumps(orjson.loads(line)) + b"\n") if sys.argv[1:] == ["json"] else (lambda line: line)
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(transform(line))
    sys.stdout.buffer.flush()
