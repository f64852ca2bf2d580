"""The Open Inference Protocol's calls to infer over HTTP, with tensors in JSON and in binary, for MLServer.

MLServer takes and gives JSON only. Here a tensor may also be bytes behind the JSON
(https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_binary_data.md), and bodies may be
compressed. Whatever is wrong with a request is answered with status 400 and `{"error": ...}`.
"""

import asyncio
import re
import struct
import zlib
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np
import orjson
from mlserver.errors import InferenceError, MLServerError
from mlserver.types import InferenceRequest, InferenceResponse
from mlserver.utils import extract_headers, insert_headers
from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

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
LARGEST_UNPACKED = 1024**3  # bytes: some thousand bytes must not take a node's memory
WORTH_PACKING = 1024  # bytes
FAST = 1


class Infer:
    """Answers `POST .../infer`. `data_plane` is MLServer's."""

    def __init__(self, data_plane: Any) -> None:
        self._data_plane = data_plane

    async def answer(self, request: Request) -> Response:
        try:
            body = await read_body(request)
            payload = read_request(body, request.headers.get(HEADER_LENGTH))
            del body
            insert_headers(payload, dict(request.headers))
            model, version = (request.path_params.get(name) for name in ("model_name", "model_version"))
            answer = await self._data_plane.infer(payload, model, version)
            return await write_answer(answer, payload, request.headers.get("accept-encoding", ""))
        except MLServerError as error:
            return error_answer(error.status_code, str(error))
        except ClientDisconnect:
            return error_answer(400, "the body ended early")


def error_answer(status: int, message: str) -> Response:
    return Response(orjson.dumps({"error": message}), status, media_type="application/json")


async def read_body(request: Request) -> List[bytes]:
    """The body as it was before it was compressed, in pieces."""
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity", *WINDOW):
        raise MLServerError(f"the body is encoded with {coding}; gzip and deflate are known", 415)
    unpacker = zlib.decompressobj(WINDOW[coding]) if coding in WINDOW else None
    limit = LARGEST_UNPACKED if unpacker else LARGEST_BODY
    pieces, size = [], 0
    loop = asyncio.get_running_loop()
    async for piece in request.stream():
        if unpacker and piece:
            try:
                piece = await loop.run_in_executor(None, unpacker.decompress, piece, limit - size + 1)
            except zlib.error as error:
                raise InferenceError(f"the body is not {coding}: {error}") from error
            if unpacker.unused_data:
                raise InferenceError(f"there is more behind the end of the {coding} body")
        size += len(piece)
        if size > limit:
            raise MLServerError(f"the body has more than {limit} bytes", 413)
        pieces.append(piece)
    if unpacker and not unpacker.eof:
        raise InferenceError(f"the {coding} body ended early")
    return pieces


def read_request(pieces: Sequence[bytes], header_length: Optional[str]) -> InferenceRequest:
    """The request in a body. `header_length`: bytes of its JSON, where tensors follow behind it."""
    size = sum(map(len, pieces))
    if header_length is None:
        head, tail = b"".join(pieces), b""
    else:
        if not re.fullmatch(r"[0-9]{1,15}", header_length) or int(header_length) > size:
            raise InferenceError(
                f"Inference-Header-Content-Length is {header_length[:40]}, but the body has {size} bytes"
            )
        head, tail = split(pieces, int(header_length))
    try:
        value = orjson.loads(head)
    except orjson.JSONDecodeError as error:
        what = "the body" if header_length is None else f"what stands in the first {header_length} bytes of the body"
        raise InferenceError(f"{what} is not JSON: {error}") from error
    place_tensors(value, tail)
    try:
        return InferenceRequest.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise InferenceError(f"this is no inference request: {where}: {first['msg']}") from error


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
            raise InferenceError(f"binary_data_size of input {name} must be a whole number of bytes")
        if "data" in tensor:
            raise InferenceError(f"input {name} has data and binary_data_size; one of them is its tensor")
        if at + size > len(tail):
            raise InferenceError(
                f"input {name} is said to have {size} bytes, but {len(tail) - at} are left behind the JSON"
            )
        tensor["data"] = read_tensor(tensor, memoryview(tail)[at : at + size])
        at += size
    if at != len(tail):
        raise InferenceError(f"{len(tail) - at} bytes behind the JSON belong to no input")


def read_tensor(tensor: Dict[str, Any], raw: memoryview) -> np.ndarray:
    """A flat array, without a copy where it is aligned."""
    name, datatype, shape = tensor.get("name"), tensor.get("datatype"), tensor.get("shape")
    if not isinstance(shape, list) or not all(type(size) is int and 0 <= size < 2**63 for size in shape):
        raise InferenceError(f"the shape of input {name} must be a list of whole numbers")
    count = 1
    for size in shape:
        count *= size
    if datatype == "BYTES":
        return read_strings(name, count, raw)
    dtype = NUMPY_OF.get(datatype) if isinstance(datatype, str) else None
    if dtype is None:
        raise InferenceError(f"input {name} has datatype {datatype}, which is not known")
    if count * dtype.itemsize != len(raw):
        raise InferenceError(
            f"input {name} has {len(raw)} bytes; {datatype} of shape {shape} has {count * dtype.itemsize}"
        )
    if datatype == "BOOL" and count and np.frombuffer(raw, np.uint8).max() > 1:
        raise InferenceError(f"input {name} is BOOL: its bytes must be 0 or 1")
    return np.require(np.frombuffer(raw, dtype), requirements=["C", "A"])


def read_strings(name: Any, count: int, raw: memoryview) -> np.ndarray:
    if count > len(raw) // 4:  # before room is made for them
        raise InferenceError(f"input {name} has {len(raw)} bytes, too few for {count} elements of BYTES")
    strings = np.empty(count, dtype=object)
    at = 0
    for index in range(count):
        if at + 4 > len(raw):
            raise InferenceError(f"input {name} ends before element {index}")
        (size,) = struct.unpack_from("<I", raw, at)
        if at + 4 + size > len(raw):
            raise InferenceError(f"element {index} of input {name} is said to have {size} bytes, more than there are")
        try:
            strings[index] = str(raw[at + 4 : at + 4 + size], "utf-8")
        except UnicodeDecodeError as error:
            raise InferenceError(f"element {index} of input {name} is not UTF-8, as strings of ONNX are") from error
        at += 4 + size
    if at != len(raw):
        raise InferenceError(f"input {name} has {len(raw) - at} bytes behind its last element")
    return strings


async def write_answer(answer: InferenceResponse, payload: InferenceRequest, accepts: str) -> Response:
    """Outputs that were asked for in binary stand behind the JSON, in their order."""
    headers = extract_headers(answer) or {}
    whole = told(payload.parameters, "binary_data_output")
    binary = {one.name: told(one.parameters, "binary_data", whole) for one in payload.outputs or []}
    outputs, pieces = [], [b""]
    for output in answer.outputs:
        array = output.data.root
        entry = {
            "name": output.name,
            "shape": output.shape,
            "datatype": getattr(output.datatype, "value", output.datatype),
        }
        if binary.get(output.name, whole):
            raw = write_tensor(array)
            entry["parameters"] = {"binary_data_size": len(raw)}
            pieces.append(raw)
        else:
            entry["data"] = to_json(array)
        outputs.append(entry)
    head = {"model_name": answer.model_name, "model_version": answer.model_version, "id": answer.id}
    pieces[0] = orjson.dumps({**{key: value for key, value in head.items() if value is not None}, "outputs": outputs})
    media_type = "application/json"
    if len(pieces) > 1:
        headers["Inference-Header-Content-Length"] = str(len(pieces[0]))
        media_type = "application/octet-stream"
    size = sum(map(len, pieces))
    coding = chosen_coding(accepts) if size >= WORTH_PACKING else None
    if coding:
        headers["Content-Encoding"] = coding
        pieces = [await asyncio.get_running_loop().run_in_executor(None, pack, coding, pieces)]
    return Pieces(pieces, headers, media_type)


def told(parameters: Any, name: str, otherwise: bool = False) -> bool:
    value = getattr(parameters, name, None)
    if value is None:
        return otherwise
    if not isinstance(value, bool):
        raise InferenceError(f"{name} must be true or false")
    return value


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


def chosen_coding(accepts: str) -> Optional[str]:
    """Of those that a client takes."""
    for part in accepts.lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() in WINDOW and not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight):
            return coding.strip()
    return None


def pack(coding: str, pieces: Sequence[Any]) -> bytes:
    packer = zlib.compressobj(FAST, zlib.DEFLATED, WINDOW[coding])
    return b"".join([*(packer.compress(piece) for piece in pieces), packer.flush()])


class Pieces(Response):
    """An answer of several pieces of memory, which are not joined first."""

    def __init__(self, pieces: Sequence[Any], headers: Dict[str, str], media_type: str) -> None:
        size = str(sum(map(len, pieces)))
        super().__init__(b"", 200, {**headers, "Content-Length": size}, media_type)
        self._pieces = pieces

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        for piece in self._pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
