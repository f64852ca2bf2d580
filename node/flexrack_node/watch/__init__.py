"""What ranks tell of themselves, and what is made of it: who hangs, who is slow."""
