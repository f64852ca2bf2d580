"""Notebooks: a server of JupyterLab for a workspace, kept running as a service."""
