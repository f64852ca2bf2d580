"""A project's code and environment on this node."""
