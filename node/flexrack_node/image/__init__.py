"""Container images (OCI) of workspaces: their layers as folders, what enters them, and what a program in a sandbox may
do.
"""
