"""Python imports this at the start of every rank, because its folder is first in PYTHONPATH. It begins to tell of the
rank, and then does what the user's own sitecustomize does, which it hides otherwise.
"""

import _frozen_importlib
import _frozen_importlib_external
import sys


def _begin():
    try:
        import flexrack_instrumentation

        flexrack_instrumentation.begin()
    except Exception:  # whatever it is, the program of the user goes on
        pass


def _next():
    """The sitecustomize further down the path, as site would have run it: its errors are its own."""
    here = _frozen_importlib_external._path_split(__file__)[0]
    spec = _frozen_importlib_external.PathFinder.find_spec("sitecustomize", [path for path in sys.path if path != here])
    if spec is None or spec.loader is None:
        return
    module = _frozen_importlib.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_begin()
_next()
