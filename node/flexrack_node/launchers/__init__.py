"""Launchers that are packages of the environment: what starts them there, in its Python. Nothing of the node program is
imported here, and it imports nothing of this.
"""
