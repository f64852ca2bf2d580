"""A sweep's study, on the head's node."""
