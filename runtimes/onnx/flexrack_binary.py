"""The Open Inference Protocol's calls to infer over HTTP, with tensors in JSON and in binary, for MLServer.

MLServer takes and gives JSON only. Here a tensor may also be bytes behind the JSON, and bodies may be compressed
(flexrack_tensors.py). Whatever is wrong with a request is answered with status 400 and `{"error": ...}`.
"""

import asyncio
from typing import Any, Dict, List, Optional, Sequence

import orjson
from flexrack_tensors import (
    HEADER_LENGTH,
    Malformed,
    Unpacker,
    chosen_coding,
    framed,
    pack,
    read_json,
    told,
)
from mlserver.errors import MLServerError
from mlserver.types import InferenceRequest, InferenceResponse
from mlserver.utils import extract_headers, insert_headers
from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response


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
        except Malformed as error:
            return error_answer(error.status, str(error))
        except ClientDisconnect:
            return error_answer(400, "the body ended early")


def error_answer(status: int, message: str) -> Response:
    return Response(orjson.dumps({"error": message}), status, media_type="application/json")


async def read_body(request: Request) -> List[bytes]:
    """The body as it was before it was compressed, in pieces."""
    unpacker = Unpacker(request.headers.get("content-encoding", ""))
    loop = asyncio.get_running_loop()
    pieces = []
    async for piece in request.stream():
        pieces.append(
            await loop.run_in_executor(None, unpacker.unpack, piece) if unpacker.is_packed else unpacker.unpack(piece)
        )
    unpacker.end()
    return pieces


def read_request(pieces: Sequence[bytes], header_length: Optional[str]) -> InferenceRequest:
    """The request in a body. `header_length`: bytes of its JSON, where tensors follow behind it."""
    try:
        return InferenceRequest.model_validate(read_json(pieces, header_length, orjson.loads))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise Malformed(f"this is no inference request: {where}: {first['msg']}") from error


async def write_answer(answer: InferenceResponse, payload: InferenceRequest, accepts: str) -> Response:
    """Outputs that were asked for in binary stand behind the JSON, in their order."""

    def wanted(parameters: Any, name: str, otherwise: bool = False) -> bool:
        value = getattr(parameters, name, None)
        return otherwise if value is None else told(value, name)

    whole = wanted(payload.parameters, "binary_data_output")
    binary = {one.name: wanted(one.parameters, "binary_data", whole) for one in payload.outputs or []}
    outputs = (
        (
            {"name": one.name, "shape": one.shape, "datatype": getattr(one.datatype, "value", one.datatype)},
            one.data.root,
            binary.get(one.name, whole),
        )
        for one in answer.outputs
    )
    head = {"model_name": answer.model_name, "model_version": answer.model_version, "id": answer.id}
    known = {key: value for key, value in head.items() if value is not None}
    about, pieces = framed(known, outputs, orjson.dumps)
    media_type = about.pop("Content-Type")
    headers = {**(extract_headers(answer) or {}), **about}
    coding = chosen_coding(accepts, pieces)
    if coding:
        headers["Content-Encoding"] = coding
        pieces = [await asyncio.get_running_loop().run_in_executor(None, pack, coding, pieces)]
    return Pieces(pieces, headers, media_type)


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
