"""What a file in GGUF says of its model (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), and what follows."""

import struct
from typing import BinaryIO, Dict

# Values: number of the type -> its bytes
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
TEXT, LIST = 8, 9
COUNTS = {4: "<I", 5: "<i", 10: "<Q", 11: "<q"}  # whole numbers of 32 and 64 bits

VALUE_BYTES = 2  # of a number in the memory of a context: llama.cpp keeps halves
MOST_BYTES = 4 * 1024**3


def read_counts(path: str) -> Dict[str, int]:
    """Its whole numbers, by their names without the architecture's: `context_length`. Empty: llama.cpp says what is wrong."""
    counts: Dict[str, int] = {}
    with open(path, "rb") as file:
        if file.read(4) != b"GGUF":
            return counts
        _version, _tensors, facts = struct.unpack("<IQQ", file.read(20))
        for _ in range(facts):
            name = file.read(number(file)).decode("utf-8", "replace")
            (kind,) = struct.unpack("<I", file.read(4))
            if kind in COUNTS:
                (counts[name.partition(".")[2]],) = struct.unpack(COUNTS[kind], file.read(SIZES[kind]))
            else:
                skip(file, kind, 1)
    return counts


def context_of(counts: Dict[str, int], requests: int, free: int) -> int:
    """Tokens that a server keeps for `requests` at once; 0: as many as the model knows, which they share.

    Each is to have the whole context, as llama.cpp ends all that it has with an error where they need more together. That
    may take a quarter of the memory that is free, in bytes, and 4 GiB at most.
    """
    trained, heads = counts.get("context_length", 0), counts.get("attention.head_count", 0)
    if trained <= 0 or heads <= 0:
        return 0
    width = counts.get("embedding_length", 0) // heads
    widths = counts.get("attention.key_length", width) + counts.get("attention.value_length", width)
    token = counts.get("block_count", 0) * counts.get("attention.head_count_kv", heads) * widths * VALUE_BYTES
    if token <= 0:
        return 0
    wanted = min(requests * trained, min(free // 4, MOST_BYTES) // token)
    return wanted if wanted > trained else 0


def free_memory() -> int:
    """Bytes that a program could have without swapping (proc(5), MemAvailable)."""
    with open("/proc/meminfo", encoding="ascii") as lines:
        said = dict(line.split(":") for line in lines)
    return int(said["MemAvailable"].split()[0]) * 1024


def skip(file: BinaryIO, kind: int, count: int) -> None:
    if kind == TEXT:
        for _ in range(count):
            file.seek(number(file), 1)
    elif kind == LIST:
        for _ in range(count):
            (inner,) = struct.unpack("<I", file.read(4))
            skip(file, inner, number(file))
    else:
        file.seek(SIZES[kind] * count, 1)


def number(file: BinaryIO) -> int:
    return struct.unpack("<Q", file.read(8))[0]
