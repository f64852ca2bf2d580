"""The record of a run: what it came from, by content, and the contents themselves (docs/adr/0072)."""
