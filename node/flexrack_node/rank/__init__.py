"""Ranks on this node: bound, started, ended."""
