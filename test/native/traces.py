"""What a client wrote with FLEXRACK_TRACE about what it sent and waited for (native/client/trace.h), counted."""

import re

LINE = re.compile(r"^\S+ \S+ (send|call|wait)(?: ([A-Z]\w*))?( took.*)?$", re.MULTILINE)


def counted(text):
    """What a trace says was sent and waited for, in order: ("send", message), ("call", message) or ("wait", "")."""
    return [(what, name) for what, name, _ in LINE.findall(text)]


def messages(lines):
    return sum(what != "wait" for what, _ in lines)


def round_trips(lines):
    """Waits right after a call are none: the bytes were on their way with its answer, and whether they are seen to be
    waited for is a matter of microseconds.
    """
    return sum(
        what == "call" or (what == "wait" and before != "call")
        for (before, _), (what, _) in zip([("", ""), *lines], lines)
    )
