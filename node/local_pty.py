"""python3 local_pty.py ROWS COLUMNS PROGRAM ARGV0 [ARG...]: runs a program on a pty, for the local rack's SSH servers.

stdin and stdout are the terminal's other side. File descriptor 3 is a stream for control: `size ROWS COLUMNS` and
`signal NAME` lines come in, and one line `exit STATUS` or `signal NAME` goes out at the end. When control ends, the
terminal hangs up.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios

CONTROL = 3
CHUNK = 65536
LAST_CHUNKS = 64


def set_size(terminal: int, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def start(program: str, argv: "list[str]", rows: int, columns: int) -> "tuple[int, int]":
    """The pid of the program and our side of its terminal; the size is set before the program can ask for it."""
    master, slave = pty.openpty()
    set_size(slave, rows, columns)
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for descriptor in (0, 1, 2):
                os.dup2(slave, descriptor)
            os.closerange(3, 256)
            for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            os.execv(program, argv)
        finally:
            os._exit(127)
    os.close(slave)
    os.set_blocking(master, False)
    return pid, master


class Bridge:
    def __init__(self, pid: int, master: int) -> None:
        self.pid = pid
        self.master = master
        self.to_terminal = b""
        self.control = b""
        self.input_open = True
        self.status: int | None = None

    def command(self, line: str) -> None:
        words = line.split()
        if len(words) == 3 and words[0] == "size":
            set_size(self.master, int(words[1]), int(words[2]))
        elif len(words) == 2 and words[0] == "signal":
            number = getattr(signal, "SIG" + words[1], None)
            if number is not None:
                os.killpg(self.pid, number)

    def read_control(self) -> bool:
        """False when the other side hung up."""
        data = os.read(CONTROL, CHUNK)
        *lines, self.control = (self.control + data).split(b"\n")
        for line in lines:
            try:
                self.command(line.decode())
            except (OSError, ValueError):
                pass  # ended in the meantime, or not a size
        return bool(data)

    def copy_output(self) -> bool:
        """False when the last program has left the terminal."""
        try:
            data = os.read(self.master, CHUNK)
        except BlockingIOError:
            return True
        except OSError:  # EIO: every program has closed it
            return False
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]
        return bool(data)

    def has_ended(self, wake: int) -> bool:
        """A wake-up may also mean that the program was stopped, or goes on."""
        os.read(wake, CHUNK)
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.status = status
        return bool(pid)

    def copy_rest(self) -> None:
        """What the program wrote before its end; not what others go on to write for ever."""
        for _ in range(LAST_CHUNKS):
            if not select.select([self.master], [], [], 0)[0] or not self.copy_output():
                return

    def run(self, wake: int) -> None:
        """Copies until the program ends (`wake` becomes readable) or the other side hangs up."""
        while True:
            inputs = [self.master, CONTROL, wake]
            if self.input_open and len(self.to_terminal) < CHUNK:
                inputs.append(0)
            outputs = [self.master] if self.to_terminal else []
            readable, writable, _ = select.select(inputs, outputs, [])
            if CONTROL in readable and not self.read_control():
                return None
            if 0 in readable:
                data = os.read(0, CHUNK)
                self.input_open = bool(data)
                self.to_terminal += data
            if self.master in writable:
                try:
                    self.to_terminal = self.to_terminal[os.write(self.master, self.to_terminal) :]
                except OSError:
                    self.to_terminal = b""
            if self.master in readable and not self.copy_output():
                return None
            if wake in readable and self.has_ended(wake):
                return self.copy_rest()


def main(argv: "list[str]") -> int:
    rows, columns, program, *words = argv
    wake, wake_end = os.pipe()
    os.set_blocking(wake_end, False)
    os.set_inheritable(CONTROL, False)
    signal.set_wakeup_fd(wake_end)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    pid, master = start(program, words, int(rows), int(columns))
    bridge = Bridge(pid, master)
    try:
        bridge.run(wake)
    except BrokenPipeError:
        pass  # nobody reads any more: hang up
    os.close(master)  # the kernel sends SIGHUP to whoever still has it as its terminal
    status = os.waitpid(pid, 0)[1] if bridge.status is None else bridge.status
    if os.WIFSIGNALED(status):
        line = "signal " + signal.Signals(os.WTERMSIG(status)).name[3:]
    else:
        line = f"exit {os.WEXITSTATUS(status)}"
    try:
        os.write(CONTROL, line.encode() + b"\n")
    except OSError:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
