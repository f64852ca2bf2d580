"""TensorBoard over the event files of runs: found where ranks left them, served on a unix socket
behind a door of ours, ended once nobody looks.
"""
