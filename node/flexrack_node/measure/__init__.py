"""What is used of the machine while a run goes, and the ledger of it."""
