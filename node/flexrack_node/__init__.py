"""flexrack's program on a node: standard-library Python 3.9 or newer, nothing to install.

Each verb is a process of its own, and half of what a short one costs is to import. So what many modules here import and
most verbs never use is read when something of it is used first.
"""

import importlib
import sys
from types import ModuleType
from typing import Any

#: Of the standard library, by what they cost: hashlib (OpenSSL), traceback (tokenize), shutil (bz2, lzma), ...
_LATE = ("hashlib", "hmac", "platform", "random", "shlex", "shutil", "socket", "subprocess", "tempfile", "traceback")


class _Late(ModuleType):
    """Stands for a module that nothing has used yet, and passes everything on to it. `from it import x` is a use."""

    def __getattr__(self, attribute: str) -> Any:
        return getattr(_read(self), attribute)

    def __setattr__(self, attribute: str, value: Any) -> None:
        setattr(_read(self), attribute, value)

    def __delattr__(self, attribute: str) -> None:
        delattr(_read(self), attribute)


def _read(late: _Late) -> ModuleType:
    if sys.modules.get(late.__name__) is late:
        del sys.modules[late.__name__]
    return importlib.import_module(late.__name__)  # from now on one look into sys.modules


for _name in _LATE:
    if _name not in sys.modules:
        sys.modules[_name] = _Late(_name)
