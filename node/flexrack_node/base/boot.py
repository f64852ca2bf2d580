"""This boot of the machine. Nothing that has to last trusts the clock on the wall, which jumps."""

import time
from pathlib import Path


def boot_time() -> float:
    """Seconds since boot, which only grow; sleep of the machine included (CLOCK_BOOTTIME of clock_gettime(2)): who was
    asleep must not think that it was there meanwhile.
    """
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def boot_id() -> str:
    """What boot_time counts from: no two boots have the same."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
