"""Runs a command for which userfaultfd(2) is not permitted, as in many containers and on kernels that do not know it:
python3 without_userfaultfd.py COMMAND...
"""

import ctypes
import os
import platform
import struct
import sys

NUMBER = {"x86_64": 323, "aarch64": 282}[platform.machine()]  # asm/unistd.h
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
# BPF_LD | BPF_W | BPF_ABS, BPF_JMP | BPF_JEQ | BPF_K, BPF_RET | BPF_K
LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO, EPERM = 0x7FFF0000, 0x00050000, 1


def forbid():
    steps = [(LOAD, 0, 0, 0), (EQUALS, 0, 1, NUMBER), (RETURN, 0, 0, ERRNO | EPERM), (RETURN, 0, 0, ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    words = ((PR_SET_NO_NEW_PRIVS, 1, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(program)))
    for option, first, second in words:
        if libc.prctl(option, ctypes.c_ulong(first), ctypes.c_ulong(second), ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    forbid()
    os.execv(sys.argv[1], sys.argv[1:])
