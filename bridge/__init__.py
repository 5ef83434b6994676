"""One tool result, several honest projections: an echo, a terminal text, a model text, the whole on disk."""

__version__ = "0.1.0"
