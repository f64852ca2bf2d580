"""The uv that builds environments in tests: fetched once a machine, into the folder of environments that all tests
share.
"""

import importlib.util
from pathlib import Path

from places import NODE

_spec = importlib.util.spec_from_file_location("testing_uv", NODE.parent / "scripts" / "testing" / "uv.py")
_script = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_script)


def order():
    return _script.order()


def put(environments):
    """As if it had been sent there."""
    program = _script.program()
    target = Path(environments) / ".uv" / "bin" / program.name
    target.parent.mkdir(mode=0o700, parents=True)
    target.symlink_to(program)
