"""Serves one class in MLServer: `serve.py FOLDER SETTINGS NAME VERSION`.

FOLDER has settings.json of the server, SETTINGS is the model-settings.json that came with the model
(https://mlserver.readthedocs.io/en/latest/reference/model-settings.html). Its `implementation` is looked up in the
folder that it lies in, and a relative `uri` is taken from there. Name and version are the endpoint's.

Answered are health and the calls of the model over HTTP. There is no gRPC, and there are none of the calls that load
and unload models: who may ask for a prediction must not take it from the others.
"""

import asyncio
import json
import os
import re
import sys
from typing import Optional

from mlserver.cli.serve import load_settings
from mlserver.rest import RESTServer
from mlserver.server import MLServer
from mlserver.settings import ModelSettings
from mlserver.utils import install_uvloop_event_loop

OPEN = re.compile(
    r"/v2/health/(live|ready)"
    r"|/v2/models/\{model_name\}(/versions/\{model_version\})?(/(ready|infer|infer_stream|generate|generate_stream))?"
)


class ClassServer(MLServer):
    def _create_servers(self) -> None:
        self._rest_server = RESTServer(self._settings, self._data_plane, self._model_repository_handlers)
        routes = self._rest_server._app.router.routes
        routes[:] = [route for route in routes if OPEN.fullmatch(getattr(route, "path", ""))]
        if len(routes) < 10:
            raise SystemExit("this MLServer names its calls in another way: nothing would be answered")
        self._grpc_server = Nothing()
        self._kafka_server = None


class Nothing:
    """Stands where MLServer would have another server."""

    async def start(self) -> None:
        pass

    async def stop(self, sig: Optional[int] = None) -> None:
        pass


async def main(folder: str, source: str, name: str, version: str) -> None:
    settings, _ = await load_settings(folder)
    with open(source, encoding="utf-8") as stream:
        given = json.load(stream)
    if not isinstance(given, dict) or not given.get("implementation"):
        raise SystemExit(f"{os.path.basename(source)} names no implementation, such as model.MyModel")
    given.update(name=name, _source=source)
    given["parameters"] = {**(given.get("parameters") or {}), "version": version}
    sys.path.insert(0, os.path.dirname(source))
    await ClassServer(settings).start([ModelSettings.model_validate(given)])


if __name__ == "__main__":
    install_uvloop_event_loop()
    asyncio.run(main(*sys.argv[1:]))
