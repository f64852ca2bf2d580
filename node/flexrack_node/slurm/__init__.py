"""Runs under Slurm: on the login node, and in the job."""
