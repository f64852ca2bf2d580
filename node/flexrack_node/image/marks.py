"""Who runs inside, and the variables by which processes are found and know where they are. Small: whoever looks at runs
reads it.
"""

import sys
from typing import Any, Dict, Mapping

# of a run or a workspace: what is inside has them, not its doorkeepers
TAGS = ("FLEXRACK_TAG", "FLEXRACK_WORKSPACE_FOLDER", "FLEXRACK_RUN")
SANDBOX = "FLEXRACK_SANDBOX"  # set in one, for whoever wants to know


def tags_of(env: Mapping[str, str]) -> Dict[str, str]:
    return {name: env[name] for name in TAGS if name in env}


def is_inside(spec: Mapping[str, Any]) -> bool:
    return bool(spec.get("image") or spec.get("isolate"))


def python_of(spec: Mapping[str, Any]) -> str:
    """What runs our own modules beside the ranks: in an image its Python, as this one is not there."""
    return str(spec["python"]) if spec.get("image") else sys.executable
