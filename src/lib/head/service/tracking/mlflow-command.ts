import {join} from 'node:path'
import type {ServiceConfig} from '../../types.ts'

/**
 * How MLflow is started: pure data. Store and artifacts go by environment, as a store URI may hold a password and argv
 * is public.
 */
export interface MlflowCommand {
  file: string
  args: string[]
  env: Record<string, string>
}

/** Longest path of a Unix socket on Linux (sun_path has 108 bytes with the closing zero). */
export const LONGEST_SOCKET_PATH = 107

/** Environment variable that marks every process of this head's MLflow. */
export const MLFLOW_TAG = 'FLEXRACK_HEAD_MLFLOW'

/**
 * MLflow's own command line, which ends by starting uvicorn as a process of its own (mlflow/server/__init__.py
 * `_run_server` of MLflow 3). That would import MLflow a second time, and keep both copies: here uvicorn runs in the
 * process that asks for it. Where a version asks in another way, it starts its process as ever. What is imported stays,
 * so the collector of garbage, which would look through all of it again and again, is off meanwhile: a sixth of what it
 * takes until MLflow answers.
 */
const IN_ONE_PROCESS = `
import gc, importlib, os, sys
gc.disable()
import mlflow.server
from mlflow.cli import cli

def run(command, *args, extra_env=None, **kwargs):
    if command[1:3] != ["-m", "uvicorn"]:
        return start(command, *args, extra_env=extra_env, **kwargs)
    os.environ.update(extra_env or {})
    import uvicorn
    importlib.import_module(command[-1].partition(":")[0])
    gc.freeze()
    gc.enable()
    sys.exit(uvicorn.main(command[3:]))

start = getattr(mlflow.server, "_exec_cmd", None)
mlflow.server._exec_cmd = run
cli(prog_name="mlflow")
`

/**
 * The official server, listening on a Unix socket in a folder that only this user can enter: on a TCP port anyone on
 * the machine could go around the head. `--host` and `--port` are required words that uvicorn ignores beside `--uds`.
 */
export function mlflowCommand(config: ServiceConfig, socket: string, hasWorkspaces = false): MlflowCommand {
  const uvicorn = `--uds ${shellWord(socket)} --timeout-graceful-shutdown 10 --timeout-keep-alive 75 --log-level warning`
  return {
    file: config.python,
    args: [
      '-c',
      IN_ONE_PROCESS,
      'server',
      '--serve-artifacts',
      '--workers',
      '1',
      '--host',
      '127.0.0.1',
      '--port',
      '1',
      '--uvicorn-opts',
      uvicorn,
    ],
    env: {
      MLFLOW_BACKEND_STORE_URI: storeOf(config),
      MLFLOW_ARTIFACTS_DESTINATION: artifactsOf(config),
      MLFLOW_SERVER_ENABLE_JOB_EXECUTION: 'false',
      MLFLOW_DISABLE_TELEMETRY: 'true',
      DO_NOT_TRACK: 'true',
      ...(hasWorkspaces && {MLFLOW_ENABLE_WORKSPACES: 'true'}),
      PYTHONUNBUFFERED: '1',
      [MLFLOW_TAG]: config.folder,
    },
  }
}

export function storeOf(config: ServiceConfig): string {
  return config.store ?? `sqlite:///${join(config.folder, 'mlflow.db')}`
}

export function artifactsOf(config: ServiceConfig): string {
  return config.artifacts ?? join(config.folder, 'artifacts')
}

/** A store URI without its password, for people. */
export function publicStore(uri: string): string {
  return uri.replace(/\/\/([^:/@]*):[^@]*@/, '//$1:***@')
}

/** MLflow splits --uvicorn-opts with shlex. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`
}
