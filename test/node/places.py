"""Where the node program is."""

from pathlib import Path

NODE = Path(__file__).resolve().parents[2] / "node"
PROGRAM = NODE / "flexrack_node"
