"""Waiting in tests: for a condition, not for a time."""

import time

LONG = 300.0  # seconds: for whatever has to happen in the end; only a failure waits so long


def until(condition, seconds=LONG):
    """The first true value of the condition; AssertionError where there is none in time."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("did not happen in time")
        time.sleep(0.02)
