"""Starts MLServer with what callers need and nothing else: `serve.py FOLDER`, where FOLDER has its settings.

Answered are health and the calls of models over HTTP, with tensors in JSON or in binary (flexrack_binary.py). There is
no gRPC (a second way in, which no gateway guards; the gateway answers it itself), and there are none of the calls that
load and unload models: who may ask for a prediction must not take it from the others.
"""

import asyncio
import re
import sys
from typing import Any, Optional

from fastapi.exceptions import RequestValidationError
from flexrack_binary import Infer, error_answer
from mlserver.cli.serve import load_settings
from mlserver.rest import RESTServer
from mlserver.server import MLServer
from mlserver.utils import install_uvloop_event_loop
from starlette.exceptions import HTTPException
from starlette.routing import Route

# A graph gives one answer: there is nothing to stream.
OPEN = re.compile(
    r"/v2|/v2/health/(live|ready)"
    r"|/v2/models/\{model_name\}(/versions/\{model_version\})?(/(ready|infer|generate))?"
)


class ClosedServer(MLServer):
    def _create_servers(self) -> None:
        self._rest_server = RESTServer(self._settings, self._data_plane, self._model_repository_handlers)
        app = self._rest_server._app
        routes = app.router.routes
        routes[:] = [route for route in routes if OPEN.fullmatch(getattr(route, "path", ""))]
        if len(routes) < 11:
            raise SystemExit("this MLServer names its calls in another way: nothing would be answered")
        infer = Infer(self._data_plane)
        for index, route in enumerate(routes):
            if route.path.endswith(("/infer", "/generate")):
                routes[index] = Route(route.path, infer.answer, methods=["POST"])
        for kind in (HTTPException, RequestValidationError, Exception):
            app.add_exception_handler(kind, answer_error)
        self._grpc_server = Absent()
        self._kafka_server = None


async def answer_error(_request: Any, error: Exception) -> Any:
    """In the protocol's shape, whoever raised it; MLServer has handled its own by then."""
    if isinstance(error, HTTPException):
        return error_answer(error.status_code, str(error.detail))
    if isinstance(error, RequestValidationError):
        return error_answer(400, str(error))
    return error_answer(500, f"the model server failed: {type(error).__name__}: {error}")


class Absent:
    """In the place of a server that is not wanted."""

    async def start(self) -> None:
        pass

    async def stop(self, sig: Optional[int] = None) -> None:
        pass


async def main(folder: str) -> None:
    settings, models = await load_settings(folder)
    await ClosedServer(settings).start(models)


if __name__ == "__main__":
    install_uvloop_event_loop()
    asyncio.run(main(sys.argv[1]))
