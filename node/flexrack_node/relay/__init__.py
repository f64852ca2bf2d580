"""A tracking server's stand-in on a node, which keeps what cannot be sent."""
