"""python3 <folder of this package> VERB ROOT ENVIRONMENTS, with the input as one JSON line on stdin."""

import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, Dict

if __package__ in (None, ""):  # started as a folder: make the package importable by its name
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from flexrack_node.base.channel import Channel, write_line
from flexrack_node.base.errors import NodeError
from flexrack_node.verbs import VERBS


def main(verb: str, root: str, environments: str) -> int:
    os.umask(0o077)
    end_in_order()
    channel = Channel(Path(root), Path(environments), sys.stdin.buffer)
    try:
        if verb not in VERBS:
            raise NodeError("BUG", f"the node program knows no verb {verb}")
        module, function = VERBS[verb].split(":")
        answer = getattr(importlib.import_module(f"flexrack_node.{module}"), function)
        value = answer(json.loads(sys.stdin.buffer.readline() or b"null"), channel)
    except NodeError as error:
        write_line(
            {"error": {"code": error.code, "message": error.message, "hint": error.hint, "details": error.details}}
        )
        return 1
    except BrokenPipeError:  # the caller went away; there is nobody to tell
        return unheard()
    except OSError as error:  # no room, no right: the node's business, wherever it shows
        write_line({"error": tell_os_error(verb, error)})
        return 1
    except Exception as error:  # a bug of ours: tell it whole, the caller shows it as one
        write_line({"error": {"code": "BUG", "message": f"{verb}: {error!r}", "details": {"trace": trace()}}})
        return 1
    write_line({"result": value})
    return 0


def unheard() -> int:
    """What is left in the buffer goes nowhere: else Python would complain of it as it ends, with a status of its own
    (the docs of `signal`, on SIGPIPE).
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), sys.stdout.fileno())
    return 1


def tell_os_error(verb: str, error: OSError) -> Dict[str, Any]:
    from flexrack_node.installer import UNFIT  # only now: it would slow every start

    reason = UNFIT.get(error.errno or 0)
    if reason is None:
        return {"code": "BUG", "message": f"{verb}: {error!r}", "details": {"trace": trace()}}
    where = str(error.filename) if error.filename is not None else "a file"
    return {
        "code": "NODE_UNFIT",
        "message": f"{where} cannot be written or read: {reason}",
        "details": {"verb": verb, "path": where, "errno": error.errno},
    }


def trace() -> str:
    import traceback  # only now: it would slow every start

    return traceback.format_exc()


def end_in_order() -> None:
    """SIGTERM and SIGHUP unwind the stack, so that `finally` removes drafts and lets locks go; the second one changes
    nothing.
    """

    def stop(number: int, _frame: object) -> None:
        for one in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(one, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


if __name__ == "__main__":
    try:
        status = main(sys.argv[1], sys.argv[2], sys.argv[3])
    except BrokenPipeError:  # even the answer found nobody
        status = unheard()
    sys.exit(status)
