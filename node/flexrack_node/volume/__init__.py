"""Volumes: folders of this node that the rack file lets runs have."""
