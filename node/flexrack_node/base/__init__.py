"""What knows nothing of flexrack's things: the channel to the caller, errors, locks, files."""
