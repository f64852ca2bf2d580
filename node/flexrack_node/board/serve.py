"""PYTHON board/serve.py ROOT ID: TensorBoard in its own environment, on a unix socket of ours. The service's supervisor
looks after it.

What reads event files fast, TensorBoard's data server, answers anybody on a port of loopback. So it
gets a network of its own; where the kernel allows none, TensorBoard reads them itself, which takes
a hundred times as long.
"""

import os
import sys
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.board.folder import BoardFolder
from flexrack_node.process.own_namespaces import enter_own_network


def main(root: str, board: str) -> int:
    os.umask(0o077)
    alone = enter_own_network()
    place = BoardFolder(Path(root), board)
    os.environ["TMPDIR"] = str(place.tmp)
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):  # the data server is here
        os.environ.pop(name, None)
    from flexrack_node.board.server import Board  # its packages make threads

    return Board(place, alone).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
