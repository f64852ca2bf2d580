"""PYTHON notebook/server.py FD: JupyterLab in a sandbox, on a unix socket that somebody outside listens on.

The socket's file is nowhere in the sandbox: what is inside could put another socket of this account in its place, and
whoever comes by it would be sent there.
"""

import os
import socket
import sys


def main() -> None:
    number = int(sys.argv[1])
    os.set_inheritable(number, False)
    sys.argv[1:] = ["--no-browser"]
    from jupyter_server import serverapp
    from jupyterlab.labapp import main as lab

    def opened(*_path: object, **_mode: object) -> socket.socket:
        given = socket.socket(fileno=number)
        given.setblocking(False)
        return given

    # Both are what ServerApp calls to listen on ServerApp.sock.
    serverapp.unix_socket_in_use = lambda _path: False
    serverapp.bind_unix_socket = opened
    lab()


if __name__ == "__main__":
    main()
