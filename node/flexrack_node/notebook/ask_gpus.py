"""python3 notebook/ask_gpus.py COMMAND...: in a sandbox, gets GPUs of the notebook's keeper (notebook/broker.py) and
becomes COMMAND, a kernel, which has them for as long as it lives.
"""

import json
import os
import socket
import sys
from pathlib import Path
from typing import List

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.gpu.lease import environment
from flexrack_node.notebook.folder import GRANTS


def main(command: List[str]) -> int:
    answer = b""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.connect(GRANTS)
            while True:
                piece = link.recv(65536)
                if not piece:
                    break
                answer += piece
        granted = json.loads(answer)
    except (OSError, ValueError) as error:
        granted = {"error": f"the notebook's keeper does not answer: {error}"}
    if "error" in granted:
        print(f"[flexrack] no GPU for a kernel: {granted['error']}", file=sys.stderr, flush=True)
        return 1
    os.execve(command[0], command, environment(granted, dict(os.environ)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
