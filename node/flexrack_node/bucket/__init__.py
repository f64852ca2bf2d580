"""Buckets: what rclone copies to this node before a run and from it after."""
