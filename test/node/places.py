"""Where the node program is, and how a command starts it."""

import sys
from pathlib import Path

NODE = Path(__file__).resolve().parents[2] / "node"
PROGRAM = NODE / "flexrack_node"


def verb_words(verb, root, environments, program=PROGRAM):
    """argv of a verb as commands start it (src/lib/host/scripts.ts): without site-packages, half of what a start costs."""
    return [sys.executable, "-I", "-S", str(program), verb, str(root), str(environments)]
