"""Runs as seen by who asks: read, followed, watched, repaired."""
