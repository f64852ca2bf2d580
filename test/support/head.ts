import {spawn, type ChildProcessWithoutNullStreams} from 'node:child_process'
import {fileURLToPath} from 'node:url'
import {connectHead, startHead, type HeadConnection} from '../../src/lib/head/index.ts'
import {headRequirements} from '../../src/lib/head/requirements.ts'
import {ensureEnvironment, openHost, type Host} from '../../src/lib/host/index.ts'
import {openMlflow, type Mlflow} from '../../src/lib/tracking/index.ts'
import {sharedEnvironments} from './environments.ts'
import {startLocalRack, type TestLocalRack} from './local-rack.ts'

export interface TestHead {
  rack: TestLocalRack
  host: Host
  connection: HeadConnection
  /** A client with the admin token. */
  mlflow: Mlflow
  /** A Python that has the official MLflow client. */
  python: string
  /** The certificates to trust at the head: a file. */
  caFile: string
  stop(): Promise<void>
}

/** A local rack of one node with a head on it; the environment with MLflow is built once a machine. */
export async function startTestHead(): Promise<TestHead> {
  const rack = await startLocalRack({nodes: 1, environments: await sharedEnvironments()})
  try {
    const context = rack.context()
    const fleet = rack.fleet()
    const host = await openHost(fleet, rack.rack.nodes[0]!, context)
    await startHead(rack.rack, fleet, context)
    const connection = await connectHead(rack.rack, fleet, context)
    const environment = await ensureEnvironment(host, {requirements: headRequirements({})}, context)
    return {
      rack,
      host,
      connection,
      mlflow: openMlflow({uri: connection.uri, token: connection.token}),
      python: `${environment.path}/bin/python`,
      caFile: `${host.root}/head/tls/ca.pem`,
      stop: () => rack.stop(),
    }
  } catch (error) {
    await rack.stop()
    throw error
  }
}

export interface RunAccess {
  /** On the tracking server. */
  id: string
  experiment: string
  artifactUri: string
  token: string
  tokenId: string
  /** What a rank of it is given. */
  env: Record<string, string>
}

/** A run of an experiment on the tracking server, with a token of its own. */
export async function runAccess(
  head: TestHead,
  project: string,
  name = project,
  tags: Record<string, string> = {},
): Promise<RunAccess> {
  const experiment = (await head.mlflow.ensureExperiment(project)).id
  const run = await head.mlflow.createRun({experimentId: experiment, name, tags})
  const {id, token} = await head.connection.request<{id: string; token: string}>('POST', '/flexrack/v1/tokens', {
    kind: 'run',
    run_id: run.id,
    experiment_id: experiment,
    ttl_seconds: 600,
  })
  const env = {
    MLFLOW_TRACKING_URI: head.connection.nodeUri,
    MLFLOW_TRACKING_SERVER_CERT_PATH: head.caFile,
    MLFLOW_TRACKING_TOKEN: token,
    MLFLOW_RUN_ID: run.id,
    MLFLOW_EXPERIMENT_ID: experiment,
  }
  return {id: run.id, experiment, artifactUri: run.artifactUri, token, tokenId: id, env}
}

/** Starts the script that uses the official client, as a rank would be started. */
export function startClient(
  python: string,
  args: string[],
  env: Record<string, string>,
): ChildProcessWithoutNullStreams {
  return startScript(python, fileURLToPath(new URL('../fixtures/tracking/client.py', import.meta.url)), args, env)
}

/** Starts a script that uses the official client. */
export function startScript(
  python: string,
  script: string,
  args: string[],
  env: Record<string, string>,
): ChildProcessWithoutNullStreams {
  const quiet = {MLFLOW_DISABLE_TELEMETRY: 'true', MLFLOW_HTTP_REQUEST_MAX_RETRIES: '2'}
  return spawn(python, [script, ...args], {env: {PATH: process.env.PATH, HOME: process.env.HOME, ...quiet, ...env}})
}

/** The answer of a client that was started; throws with what it wrote to stderr where it failed. */
export async function answerOf<T>(child: ChildProcessWithoutNullStreams): Promise<T> {
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk) => (out += String(chunk)))
  child.stderr.on('data', (chunk) => (err += String(chunk)))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`client ended with ${code}:\n${err.slice(-3000)}`)
  return JSON.parse(out.trim().split('\n').at(-1)!) as T
}
