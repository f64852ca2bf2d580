"""What is used of the machine while a run goes, and the log of it."""
