"""The uv that builds environments in tests: fetched once a machine, into the folder of environments that all tests share."""
import importlib.util
import os
from pathlib import Path

from places import NODE

_SCRIPT = NODE.parent / "scripts" / "testing" / "uv.py"
_spec = importlib.util.spec_from_file_location("uv_below", _SCRIPT)
_script = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_script)


def order():
    return _script.order()


def put(environments):
    """As if it had been sent there."""
    shared = Path(os.environ.get("FLEXRACK_TEST_ENVIRONMENTS", f"/tmp/flexrack-test-environments-{os.getuid()}"))
    shared.mkdir(mode=0o700, parents=True, exist_ok=True)
    program = _script.uv_below(shared / ".uv")
    target = Path(environments) / ".uv" / "bin" / program.name
    target.parent.mkdir(mode=0o700, parents=True)
    target.symlink_to(program)
