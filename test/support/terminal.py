"""Runs a program on a terminal of 80x24: python3 terminal.py DIALOGUE PROGRAM ARGS...

DIALOGUE is JSON: [[expected text, what to type], ...]. Prints what the terminal showed, and exits as the program did.
"""

import fcntl
import json
import os
import pty
import struct
import sys
import termios


def main() -> int:
    dialogue = json.loads(sys.argv[1])
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.environ["TERM"] = "xterm"
        os.execvp(sys.argv[2], sys.argv[2:])
    seen = b""
    start = 0
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # Linux says EIO when the other side is gone.
            break
        if not chunk:
            break
        seen += chunk
        while dialogue and dialogue[0][0].encode() in seen[start:]:
            expected, answer = dialogue.pop(0)
            start = seen.index(expected.encode(), start) + len(expected.encode())
            os.write(terminal, answer.encode())
    sys.stdout.buffer.write(seen)
    status = os.waitpid(pid, 0)[1]
    return os.waitstatus_to_exitcode(status) if not os.WIFSIGNALED(status) else 128 + os.WTERMSIG(status)


sys.exit(main())
