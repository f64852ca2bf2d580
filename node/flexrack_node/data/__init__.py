"""Data sets on this node: versions by content, read-only, for the runs that name them."""
