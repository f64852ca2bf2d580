"""What a node is and has."""
