"""What GPU code the packages of an environment carry: a table of shared libraries, their entries of machine code and of PTX, by architecture.

    python3 test/native/frameworks/wheels.py FOLDER...      folders with shared libraries, such as an environment's site-packages

A GPU in software computes PTX only, so a release that loses its PTX shows here. Layouts: native/cuda/fatbin.cpp."""
import mmap
import struct
import sys
from collections import Counter
from pathlib import Path

MAGIC = b"\x50\xed\x55\xba"
PTX, ELF = 1, 2


def entries(data):
    """(kind, architecture) of every entry of every fatbin in these bytes."""
    at = data.find(MAGIC)
    while at != -1:
        version, header, size = struct.unpack_from("<HHQ", data, at + 4) if at + 16 <= len(data) else (0, 0, 0)
        end = at + header + size
        if version == 1 and header >= 16 and end <= len(data):
            one = at + header
            while one + 64 <= end:
                kind, _, entry_header, payload = struct.unpack_from("<HHIQ", data, one)
                architecture, = struct.unpack_from("<I", data, one + 28)
                if entry_header < 64 or one + entry_header + payload > end:
                    break
                yield kind, architecture
                one += entry_header + payload
        at = data.find(MAGIC, max(end, at + 4) if version == 1 and end <= len(data) else at + 4)


def counted(path):
    """{kind: Counter of architectures} of a file; None where it has no GPU code."""
    found = {PTX: Counter(), ELF: Counter()}
    with path.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for kind, architecture in entries(data):
                found.setdefault(kind, Counter())[architecture] += 1
    return found if any(found.values()) else None


def text(counts):
    return ", ".join(f"{number // 10}.{number % 10}: {count}" for number, count in sorted(counts.items())) or "none"


def main(folders):
    print("| library | machine code | PTX |\n|---|---|---|")
    for folder in map(Path, folders):
        for path in sorted(folder.rglob("*.so*")):
            if path.is_file() and not path.is_symlink() and path.stat().st_size > 4096:
                found = counted(path)
                if found:
                    print(f"| {path.relative_to(folder)} | {text(found[ELF])} | {text(found[PTX])} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["."])
