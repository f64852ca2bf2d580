"""The Open Inference Protocol's tensors as arrays: in JSON, and in binary behind it
(https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_binary_data.md), in bodies that may
be compressed.

Nothing but numpy is needed. What is wrong with a request raises Malformed.
"""

import json
import re
import struct
import zlib
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np

HEADER_LENGTH = "inference-header-content-length"
# The protocol's name -> numpy's; both are little-endian. BYTES are four bytes of length and the bytes, each.
NUMPY_OF: Dict[str, Any] = {
    "BOOL": np.dtype(np.bool_),
    "UINT8": np.dtype("<u1"),
    "UINT16": np.dtype("<u2"),
    "UINT32": np.dtype("<u4"),
    "UINT64": np.dtype("<u8"),
    "INT8": np.dtype("<i1"),
    "INT16": np.dtype("<i2"),
    "INT32": np.dtype("<i4"),
    "INT64": np.dtype("<i8"),
    "FP16": np.dtype("<f2"),
    "FP32": np.dtype("<f4"),
    "FP64": np.dtype("<f8"),
}
# zlib's name for the form of each: `deflate` has a head and a sum, too (RFC 9110, 8.4.1.2).
WINDOW = {"gzip": 31, "deflate": 15}
LARGEST_BODY = 4 * 1024**3  # bytes, as the gateway's own limit
LARGEST_UNPACKED = 256 * 1024**2  # bytes, as the gateway's: some thousand bytes must not take a node's memory
WORTH_PACKING = 1024  # bytes
FAST = 1


class Malformed(Exception):
    """What is wrong with a request, in a sentence. `status`: of HTTP."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Unpacker:
    """A body as it was before it was compressed. `coding`: its Content-Encoding. Each piece goes through `unpack`; `end`
    says whether it was whole.
    """

    def __init__(self, coding: str) -> None:
        coding = coding.strip().lower()
        if coding not in ("", "identity", *WINDOW):
            raise Malformed(f"the body is encoded with {coding}; gzip and deflate are known", 415)
        self.is_packed = coding in WINDOW
        self._coding = coding
        self._unpacker = zlib.decompressobj(WINDOW[coding]) if self.is_packed else None
        self._limit = LARGEST_UNPACKED if self.is_packed else LARGEST_BODY
        self._size = 0

    def unpack(self, piece: bytes) -> bytes:
        if self._unpacker and piece:
            try:
                piece = self._unpacker.decompress(piece, self._limit - self._size + 1)
            except zlib.error as error:
                raise Malformed(f"the body is not {self._coding}: {error}") from error
            if self._unpacker.unused_data:
                raise Malformed(f"there is more behind the end of the {self._coding} body")
        self._size += len(piece)
        if self._size > self._limit:
            raise Malformed(f"the body has more than {self._limit} bytes", 413)
        return piece

    def end(self) -> None:
        if self._unpacker and not self._unpacker.eof:
            raise Malformed(f"the {self._coding} body ended early")


def read_json(pieces: Sequence[bytes], header_length: Optional[str], loads: Callable[[bytes], Any] = json.loads) -> Any:
    """What the JSON in a body says; inputs in binary have an array as their `data`. `header_length`: bytes of the JSON,
    where tensors follow behind it.
    """
    size = sum(map(len, pieces))
    if header_length is None:
        head, tail = b"".join(pieces), b""
    else:
        if not re.fullmatch(r"[0-9]{1,15}", header_length) or int(header_length) > size:
            raise Malformed(f"Inference-Header-Content-Length is {header_length[:40]}, but the body has {size} bytes")
        head, tail = split(pieces, int(header_length))
    try:
        value = loads(head)
    except (ValueError, RecursionError) as error:
        what = "the body" if header_length is None else f"what stands in the first {header_length} bytes of the body"
        raise Malformed(f"{what} is not JSON: {error}") from error
    place_tensors(value, tail)
    return value


def split(pieces: Iterable[bytes], at: int) -> Tuple[bytes, bytes]:
    """Joined apart: what is behind begins where memory is aligned."""
    before: List[bytes] = []
    behind: List[bytes] = []
    for piece in pieces:
        if at >= len(piece):
            before.append(piece)
        else:
            if at:
                before.append(piece[:at])
            behind.append(piece[at:] if at else piece)
        at = max(0, at - len(piece))
    return b"".join(before), b"".join(behind)


def place_tensors(value: Any, tail: bytes) -> None:
    """Gives every input that says binary_data_size its part of the tail as an array. They have to fill it."""
    inputs = value.get("inputs") if isinstance(value, dict) else None
    at = 0
    for tensor in inputs if isinstance(inputs, list) else []:
        parameters = tensor.get("parameters") if isinstance(tensor, dict) else None
        if not isinstance(parameters, dict) or "binary_data_size" not in parameters:
            continue
        name, size = tensor.get("name"), parameters.pop("binary_data_size")
        if type(size) is not int or size < 0:
            raise Malformed(f"binary_data_size of input {name} must be a whole number of bytes")
        if "data" in tensor:
            raise Malformed(f"input {name} has data and binary_data_size; one of them is its tensor")
        if at + size > len(tail):
            raise Malformed(f"input {name} is said to have {size} bytes, but {len(tail) - at} are left behind the JSON")
        tensor["data"] = read_tensor(tensor, memoryview(tail)[at : at + size])
        at += size
    if at != len(tail):
        raise Malformed(f"{len(tail) - at} bytes behind the JSON belong to no input")


def read_tensor(tensor: Dict[str, Any], raw: memoryview) -> np.ndarray:
    """A flat array, without a copy where it is aligned."""
    name, datatype, shape = tensor.get("name"), tensor.get("datatype"), tensor.get("shape")
    if not isinstance(shape, list) or not all(type(size) is int and 0 <= size < 2**63 for size in shape):
        raise Malformed(f"the shape of input {name} must be a list of whole numbers")
    count = 1
    for size in shape:
        count *= size
    if datatype == "BYTES":
        return read_strings(name, count, raw)
    dtype = NUMPY_OF.get(datatype) if isinstance(datatype, str) else None
    if dtype is None:
        raise Malformed(f"input {name} has datatype {datatype}, which is not known")
    if count * dtype.itemsize != len(raw):
        raise Malformed(f"input {name} has {len(raw)} bytes; {datatype} of shape {shape} has {count * dtype.itemsize}")
    if datatype == "BOOL" and count and np.frombuffer(raw, np.uint8).max() > 1:
        raise Malformed(f"input {name} is BOOL: its bytes must be 0 or 1")
    return np.require(np.frombuffer(raw, dtype), requirements=["C", "A"])


def read_strings(name: Any, count: int, raw: memoryview) -> np.ndarray:
    if count > len(raw) // 4:  # before room is made for them
        raise Malformed(f"input {name} has {len(raw)} bytes, too few for {count} elements of BYTES")
    strings = np.empty(count, dtype=object)
    at = 0
    for index in range(count):
        if at + 4 > len(raw):
            raise Malformed(f"input {name} ends before element {index}")
        (size,) = struct.unpack_from("<I", raw, at)
        if at + 4 + size > len(raw):
            raise Malformed(f"element {index} of input {name} is said to have {size} bytes, more than there are")
        try:
            strings[index] = str(raw[at + 4 : at + 4 + size], "utf-8")
        except UnicodeDecodeError as error:
            raise Malformed(f"element {index} of input {name} is not UTF-8") from error
        at += 4 + size
    if at != len(raw):
        raise Malformed(f"input {name} has {len(raw) - at} bytes behind its last element")
    return strings


def write_tensor(array: np.ndarray) -> Any:
    """Its bytes, row after row."""
    if array.dtype.kind in "OUS":
        texts = [item if isinstance(item, bytes) else str(item).encode() for item in array.reshape(-1)]
        return b"".join(struct.pack("<I", len(one)) + one for one in texts)
    flat = np.ascontiguousarray(array).reshape(-1)
    return memoryview(flat.astype(flat.dtype.newbyteorder("<"), copy=False).view(np.uint8))


def to_json(array: np.ndarray) -> List[Any]:
    flat = array.reshape(-1).tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        flat = [value if np.isfinite(value) else None for value in flat]  # JSON has no NaN
    return flat


def told(value: Any, name: str) -> bool:
    """What a parameter of that name says."""
    if not isinstance(value, bool):
        raise Malformed(f"{name} must be true or false")
    return value


def framed(
    head: Dict[str, Any], outputs: Iterable[Tuple[Dict[str, Any], np.ndarray, bool]], dumps: Callable[[Any], bytes]
) -> Tuple[Dict[str, str], List[Any]]:
    """An answer's headers, and its body in pieces: the JSON, and behind it the outputs that are to be in binary, in
    their order. Each output: what is said of it, its array, and whether that is to be in binary.
    """
    entries: List[Dict[str, Any]] = []
    behind: List[Any] = []
    for said, array, is_binary in outputs:
        if is_binary:
            behind.append(write_tensor(array))
            entries.append({**said, "parameters": {"binary_data_size": len(behind[-1])}})
        else:
            entries.append({**said, "data": to_json(array)})
    json_part = dumps({**head, "outputs": entries})
    if not behind:
        return {"Content-Type": "application/json"}, [json_part]
    length = {"Inference-Header-Content-Length": str(len(json_part))}
    return {"Content-Type": "application/octet-stream", **length}, [json_part, *behind]


def chosen_coding(accepts: str, pieces: Sequence[Any]) -> Optional[str]:
    """Of those that a client takes; None, too, where there is too little to pack."""
    if sum(map(len, pieces)) < WORTH_PACKING:
        return None
    for part in accepts.lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() in WINDOW and not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight):
            return coding.strip()
    return None


def pack(coding: str, pieces: Sequence[Any]) -> bytes:
    packer = zlib.compressobj(FAST, zlib.DEFLATED, WINDOW[coding])
    return b"".join([*(packer.compress(piece) for piece in pieces), packer.flush()])
