"""flexrack's program on a node: standard-library Python 3.9 or newer, nothing to install."""
