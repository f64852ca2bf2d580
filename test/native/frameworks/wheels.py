"""What GPU code the packages of an environment carry: a table of shared libraries, their entries of machine code and of
PTX, by architecture.

    python3 test/native/frameworks/wheels.py FOLDER...           folders with shared libraries, such as an environment's site-packages
    python3 test/native/frameworks/wheels.py --check [NAME...]   what of frameworks' environments (compare.py) is not as wheels.md has it
    python3 test/native/frameworks/wheels.py --write [NAME...]   writes it there

A GPU in software computes PTX only, so a release that loses its PTX shows here. Layouts: native/cuda/fatbin.cpp.
"""

import mmap
import re
import struct
import sys
from collections import Counter
from pathlib import Path

MAGIC = b"\x50\xed\x55\xba"
PTX, ELF = 1, 2
KEPT = Path(__file__).resolve().parent / "wheels.md"
TITLE = "# What GPU code the frameworks' libraries carry, by capability (made by wheels.py --write)"
HEAD = 4


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
                (architecture,) = struct.unpack_from("<I", data, one + 28)
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


def libraries(folder):
    """(path in the folder, what it carries) of each library that carries something."""
    for path in sorted(folder.rglob("*.so*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size > 4096:
            found = counted(path)
            if found:
                # Not which Python it is for, nor what a packer added.
                yield re.sub(r"\.cpython-[^.]*|-[0-9a-f]{8}(?=\.so)", "", str(path.relative_to(folder))), found


def table(folders):
    print("| library | machine code | PTX |\n|---|---|---|")
    for folder in map(Path, folders):
        for name, found in libraries(folder):
            print(f"| {name} | {text(found[ELF])} | {text(found[PTX])} |", flush=True)


def rows(framework):
    """Lines of the kept table for a framework, whose environment is fetched where it is missing."""
    environment = framework.python().parent.parent
    if framework.beside:
        framework.beside(environment)  # npm's packages
    folders = [*(environment / "lib").glob("python3*/site-packages"), *environment.glob("*/node_modules")]
    return [
        f"| {framework.lock} | {name} | {text(found[ELF])} | {text(found[PTX])} |"
        for folder in folders
        for name, found in libraries(folder)
    ]


def kept(name):
    return [line for line in KEPT.read_text().splitlines() if line.startswith(f"| {name} |")]


def differences(framework):
    """What is not as the kept table has it: a release that lost its PTX, first of all."""
    had, has = kept(framework.lock), rows(framework)
    return [f"was {line}" for line in had if line not in has] + [f"is  {line}" for line in has if line not in had]


def chosen(names):
    """The frameworks of these names, or of these lock files, one for each lock file; all where none is named."""
    from compare import FRAMEWORKS

    named = {word: one for one in FRAMEWORKS.values() for word in (one.lock, one.name)}
    unknown = [name for name in names if name not in named]
    if unknown:
        raise SystemExit(f"no framework is named {unknown[0]}; there are {', '.join(sorted(named))}")
    return list({one.lock: one for one in [named[name] for name in names or named]}.values())


def check(names):
    found = [line for framework in chosen(names) for line in differences(framework)]
    print("\n".join(found) or "every library carries what it did")
    return 1 if found else 0


def write(names):
    fresh = {framework.lock: rows(framework) for framework in chosen(names)}
    others = (
        [line for line in KEPT.read_text().splitlines()[HEAD:] if line.split(" ")[1] not in fresh]
        if KEPT.exists()
        else []
    )
    lines = sorted([*others, *(line for each in fresh.values() for line in each)])
    KEPT.write_text(
        "\n".join([TITLE, "", "| framework | library | machine code | PTX |", "|---|---|---|---|", *lines]) + "\n"
    )
    return 0


def main(words):
    if words[:1] in (["--check"], ["--write"]):
        return (check if words[0] == "--check" else write)(words[1:])
    table(words or ["."])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
