"""PYTHON notebook/kernel.py SIDE [--leased] -f CONNECTION_FILE: a kernel of the project's Python, with ipykernel's
packages behind all others.

What processes print that a cell has forked comes to the kernel through a port of loopback (ipykernel/iostream.py):
other accounts cannot forge that, and can fill the kernel's memory. So here it is one more socket beside the kernel's
others, in a folder of ours.
"""

import os
import sys


def own_sockets(connection_file: str) -> None:
    """From now on IOPub threads take output of forked processes on a unix socket."""
    import zmq
    from ipykernel import kernelapp
    from ipykernel.iostream import IOPubThread
    from zmq.eventloop.zmqstream import ZMQStream

    address = f"ipc://{os.path.splitext(connection_file)[0]}-ipc-9"

    class OwnThread(IOPubThread):  # type: ignore[misc]  # of another environment
        def _setup_pipe_in(self) -> None:
            self._pipe_uuid = os.urandom(16)
            pipe = self.socket.context.socket(zmq.PULL)
            pipe.linger = 0
            pipe.bind(address)
            self._pipe_in = ZMQStream(pipe, self.io_loop)
            self._pipe_in.on_recv(self._handle_pipe_msg)

        def _setup_pipe_out(self):  # type: ignore[no-untyped-def]
            context = zmq.Context()  # another one after a fork
            pipe = context.socket(zmq.PUSH)
            pipe.linger = 3000  # milliseconds, as ipykernel has it
            pipe.connect(address)
            return context, pipe

    kernelapp.IOPubThread = OwnThread


def main() -> None:
    side = sys.argv.pop(1)
    # who holds the lease is between the server and the kernel, which looks after its parent
    if sys.argv[1] == "--leased":
        del sys.argv[1]
        os.environ["JPY_PARENT_PID"] = str(os.getppid())
    sys.path[0] = ""  # as `python -m` has it: notebooks import what lies beside them
    sys.path.append(side)
    from ipykernel import kernelapp

    own_sockets(sys.argv[sys.argv.index("-f") + 1])
    kernelapp.launch_new_instance()


if __name__ == "__main__":
    main()
