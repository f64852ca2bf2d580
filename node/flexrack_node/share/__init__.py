"""Folders that one account of a node opens to another: invitations, rights to read by ACL, and a door for those who may
write. See README.md here.
"""
