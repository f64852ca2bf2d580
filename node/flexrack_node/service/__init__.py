"""Processes that outlive the connection and are kept running: head, model servers, the GPU daemon."""
