"""Connections between the nodes of a gang, who is let in, and what is asked and fetched over them."""
