import type {ServingProtocol} from '../../../protocol/index.ts'
import {Failure} from '../failure.ts'

/** What of a model server a caller of an endpoint gets to. */
export interface GatewayCall {
  endpoint: string
  /** The path at the model server. */
  path: string
  /** Whether a prediction would be answered is asked, whatever the model says of it is answered in our words. */
  isHealth: boolean
  /** Asked twice it does the same: it may be sent again to another server after its connection broke. */
  isRepeatable: boolean
}

/**
 * What of an endpoint the gateway reads to know a call. `health`: path of the model server that answers 200 once it
 * predicts.
 */
export interface Served {
  protocol?: ServingProtocol
  health?: string
  /**
   * Its servers are started when requests wait for them, which took so many seconds: without targets requests wait,
   * where they would be refused otherwise.
   */
  startSeconds?: number
}

/** Below a model, or a version of it: what is asked for with GET or HEAD, and what with POST. */
const LOOKS = new Set(['', 'ready'])
const PREDICTIONS = new Set(['infer', 'infer_stream', 'generate', 'generate_stream'])
const REST = /^(?:\/versions\/[A-Za-z0-9][A-Za-z0-9._-]*)?(?:\/([a-z_]+))?$/

/**
 * What clients of OpenAI's API ask a model for (https://platform.openai.com/docs/api-reference);
 * files, fine-tuning and the like belong to no model server.
 */
const OPENAI_LOOKS = /^\/v1\/models(\/[A-Za-z0-9][A-Za-z0-9._:-]*)?$/
const OPENAI_CALLS = new Set(
  ['chat/completions', 'completions', 'embeddings', 'responses', 'rerank', 'score', 'tokenize'].map(
    (name) => `/v1/${name}`,
  ),
)
/** Of MLflow's own model server (https://mlflow.org/docs/latest/ml/deployment/deploy-model-locally/). */
const MLFLOW_LOOKS = new Set(['/ping', '/version'])

/**
 * The call that a request to `/endpoints/<name>/…` makes, by what is allowed: health, and the calls
 * of the protocol that its servers speak. With v2 it is the model of the endpoint, which has its
 * name. A model server has more (it loads and unloads models, registers shared memory, shows
 * pages), none of which is for who may only predict. `path` is in its plain form (pathOf). Throws
 * 404 for everything else.
 */
export function readCall(name: string, served: Served, method: string, path: string): GatewayCall {
  const isLook = method === 'GET' || method === 'HEAD'
  const protocol = served.protocol ?? 'v2'
  const own = path.slice(`/endpoints/${name}`.length)
  if (path === `/endpoints/${name}${own}`) {
    if (isLook && isHealthPath(protocol, own)) {
      return {endpoint: name, path: served.health ?? `/v2/models/${name}/ready`, isHealth: true, isRepeatable: true}
    }
    if (ALLOWED[protocol](name, isLook, own)) {
      return {endpoint: name, path: own, isHealth: false, isRepeatable: protocol !== 'openai' || isLook}
    }
  }
  throw new Failure(404, 'NOT_FOUND', `endpoint ${name} answers health and ${CALLS[protocol]}, not ${method} ${path}`)
}

const CALLS: Record<ServingProtocol, string> = {
  v2: 'v2 and the calls of its model (Open Inference Protocol, below v2/models)',
  openai: "calls of OpenAI's API (below v1: models, chat/completions, completions, embeddings, responses)",
  mlflow: "those of MLflow's model server (invocations, ping, version), and v2 and the calls of its model",
}

const ALLOWED: Record<ServingProtocol, (name: string, isLook: boolean, own: string) => boolean> = {
  v2: isOfModel,
  openai: (_name, isLook, own) => (isLook ? OPENAI_LOOKS.test(own) : OPENAI_CALLS.has(own)),
  // The runtime mlflow answers tensors, too; another server that does not says so itself.
  mlflow: (name, isLook, own) =>
    (isLook ? MLFLOW_LOOKS.has(own) : own === '/invocations') || isOfModel(name, isLook, own),
}

/** The Open Inference Protocol's calls of the model `name`. */
function isOfModel(name: string, isLook: boolean, own: string): boolean {
  if (own === '/v2') return isLook // the server's own name, version and extensions
  const model = `/v2/models/${name}`
  const rest = own.startsWith(model) ? REST.exec(own.slice(model.length)) : null
  return rest !== null && (isLook ? LOOKS : PREDICTIONS).has(rest[1] ?? '')
}

/** `/health` is every endpoint's; the other two are the Open Inference Protocol's. */
function isHealthPath(protocol: ServingProtocol, own: string): boolean {
  return own === '/health' || (protocol !== 'openai' && /^\/v2\/health\/(live|ready)$/.test(own))
}
