"""Python environments that tests and benches need, each built once a machine and kept beside those of the other tests
(test/support/environments.ts).
"""

import importlib.util
from pathlib import Path

_spec = importlib.util.spec_from_file_location(
    "testing_uv", Path(__file__).resolve().parents[2] / "scripts" / "testing" / "uv.py"
)
_uv = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_uv)
shared_folder = _uv.shared_folder
locked_environment = _uv.locked


def environment(name, packages, finish=None):
    """The folder of a virtual environment with these packages (requirements as pip takes them), built where it is
    missing; one builds, others wait. `finish` gets the new folder and may change it. Raises CalledProcessError where
    they cannot be had.
    """
    return _uv.kept(name, " ".join(packages), packages, finish)
