"""The worker: lines of JSON-RPC in, lines of JSON-RPC out. Empty on purpose: stdio comes first."""
