"""Processes of this machine: kept together, ended with proof, started apart, looked at."""
