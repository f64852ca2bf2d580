"""python3 <folder of this package> VERB ROOT ENVIRONMENTS, with the input as one JSON line on stdin."""
import importlib
import json
import os
import sys
import traceback
from pathlib import Path

if __package__ in (None, ""):  # started as a folder: make the package importable by its name
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from flexrack_node.channel import Channel, write_line  # noqa: E402
from flexrack_node.errors import NodeError  # noqa: E402
from flexrack_node.verbs import VERBS  # noqa: E402


def main(verb: str, root: str, environments: str) -> int:
    os.umask(0o077)
    channel = Channel(Path(root), Path(environments), sys.stdin.buffer)
    try:
        module, function = VERBS[verb].split(":")
        answer = getattr(importlib.import_module(f"flexrack_node.{module}"), function)
        value = answer(json.loads(sys.stdin.buffer.readline() or b"null"), channel)
    except NodeError as error:
        write_line({"error": {"code": error.code, "message": error.message, "hint": error.hint, "details": error.details}})
        return 1
    except BrokenPipeError:  # the caller went away; there is nobody to tell
        return 1
    except Exception as error:  # a bug of ours: tell it whole, the caller shows it as one
        write_line({"error": {"code": "BUG", "message": f"{verb}: {error!r}", "details": {"trace": traceback.format_exc()}}})
        return 1
    write_line({"result": value})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3]))
