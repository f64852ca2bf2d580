"""MLflow's own model server for one model: `serve.py FOLDER HOST PORT`, where FOLDER has its MLmodel.

The same as `mlflow models serve --env-manager local`, without the two processes around it. Answered are /ping, /version
and /invocations (https://mlflow.org/docs/latest/ml/deployment/deploy-model-locally/).
"""

import sys
import warnings

from mlflow.pyfunc import scoring_server


def main(folder: str, host: str, port: int) -> None:
    model = scoring_server.load_model_with_mlflow_config(folder)
    app = scoring_server.init(model)
    if hasattr(app, "wsgi_app"):  # Flask, in MLflow 2
        from waitress import serve

        serve(app, host=host, port=port, ident="")
    else:
        import uvicorn

        uvicorn.run(app, host=host, port=port, log_level="warning", server_header=False)


if __name__ == "__main__":
    warnings.simplefilter("once")
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
