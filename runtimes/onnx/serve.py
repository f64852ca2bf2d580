"""Starts MLServer with what callers need and nothing else: `serve.py FOLDER`, where FOLDER has its settings.

Answered are health and the calls of models over HTTP. There is no gRPC (a second way in, which no gateway guards), and
there are none of the calls that load and unload models: who may ask for a prediction must not take it from the others.
"""

import asyncio
import re
import sys
from typing import Optional

from mlserver.cli.serve import load_settings
from mlserver.rest import RESTServer
from mlserver.server import MLServer
from mlserver.utils import install_uvloop_event_loop

OPEN = re.compile(
    r"/v2/health/(live|ready)"
    r"|/v2/models/\{model_name\}(/versions/\{model_version\})?(/(ready|infer|infer_stream|generate|generate_stream))?"
)


class ClosedServer(MLServer):
    def _create_servers(self) -> None:
        self._rest_server = RESTServer(self._settings, self._data_plane, self._model_repository_handlers)
        routes = self._rest_server._app.router.routes
        routes[:] = [route for route in routes if OPEN.fullmatch(getattr(route, "path", ""))]
        if len(routes) < 10:
            raise SystemExit("this MLServer names its calls in another way: nothing would be answered")
        self._grpc_server = Absent()
        self._kafka_server = None


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
