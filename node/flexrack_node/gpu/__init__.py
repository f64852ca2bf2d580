"""The GPU daemon of a node: started, asked, and its leases."""
