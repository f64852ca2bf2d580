"""MLflow's own model server for one model: `serve.py FOLDER HOST PORT NAME VERSION`, where FOLDER has its MLmodel.

The same as `mlflow models serve --env-manager local`, without the two processes around it. Answered are /ping, /version
and /invocations (https://mlflow.org/docs/latest/ml/deployment/deploy-model-locally/), and, beside them, the Open
Inference Protocol v2 for the model (flexrack_v2.py).
"""

import sys
import warnings
from typing import Any

from flexrack_v2 import Tensors
from mlflow.pyfunc import scoring_server


def main(folder: str, host: str, port: int, name: str, version: str) -> None:
    model = scoring_server.load_model_with_mlflow_config(folder)
    app = scoring_server.init(model)
    tensors = Tensors(model, name, version)
    if hasattr(app, "wsgi_app"):  # Flask, in MLflow 2
        from waitress import serve

        add_to_flask(app, tensors)
        serve(app, host=host, port=port, ident="")
    else:
        import uvicorn

        add_to_fastapi(app, tensors)
        uvicorn.run(app, host=host, port=port, log_level="warning", server_header=False)


def add_to_flask(app: Any, tensors: Tensors) -> None:
    import flask

    def infer() -> Any:
        headers = {key.lower(): value for key, value in flask.request.headers.items()}
        status, answered, body = tensors.infer(headers, flask.request.get_data())
        return flask.Response(body, status, answered)

    for path, said in tensors.looks():
        app.add_url_rule(path, path, lambda said=said: flask.jsonify(said()), methods=["GET"])
    for path in tensors.bases():
        app.add_url_rule(f"{path}/infer", f"{path}/infer", infer, methods=["POST"])


def add_to_fastapi(app: Any, tensors: Tensors) -> None:
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response

    async def infer(request: Request) -> Response:
        try:
            body = await request.body()
        except ClientDisconnect:
            return Response(b"", 400)
        status, answered, content = await run_in_threadpool(tensors.infer, dict(request.headers), body)
        return Response(content, status, answered)

    for path, said in tensors.looks():
        app.add_route(path, lambda _request, said=said: JSONResponse(said()), ["GET"])
    for path in tensors.bases():
        app.add_route(f"{path}/infer", infer, ["POST"])


if __name__ == "__main__":
    warnings.simplefilter("once")
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5])
