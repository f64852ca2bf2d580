"""What runs inside a rank's own Python, found through PYTHONPATH: sitecustomize.py first. The node program imports only
flexrack_layout from here.
"""
