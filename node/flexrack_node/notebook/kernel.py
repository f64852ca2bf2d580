"""PYTHON notebook/kernel.py SIDE [--held] -f CONNECTION_FILE: a kernel of the project's Python, with ipykernel's
packages behind all others.

What processes print that a cell has forked comes to the kernel through a port of loopback (ipykernel/iostream.py):
other accounts cannot forge that, and can fill the kernel's memory. So here it is one more socket beside the kernel's
others, in a folder of ours.
"""

import os
import signal
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


def interrupt_all() -> None:
    """When a message interrupts a kernel that leads no group: what it has started in its group is interrupted, too, as
    a signal to the group does it.
    """
    import psutil
    from ipykernel import kernelbase

    def interrupt(_kernel: object) -> None:
        for child in psutil.Process().children(recursive=True):
            try:
                if os.getpgid(child.pid) == os.getpgid(0):
                    child.send_signal(signal.SIGINT)
            except (OSError, psutil.Error):
                continue
        os.kill(os.getpid(), signal.SIGINT)

    kernelbase.Kernel._send_interrupt_children = interrupt


def main() -> None:
    side = sys.argv.pop(1)
    # between the server and the kernel, which looks after its parent, is who holds its lease, or lets it into its image
    held = sys.argv[1] == "--held"
    if held:
        del sys.argv[1]
        os.environ["JPY_PARENT_PID"] = str(os.getppid())
    sys.path[0] = ""  # as `python -m` has it: notebooks import what lies beside them
    sys.path.append(side)
    from ipykernel import kernelapp

    if held:
        interrupt_all()
    own_sockets(sys.argv[sys.argv.index("-f") + 1])
    kernelapp.launch_new_instance()


if __name__ == "__main__":
    main()
