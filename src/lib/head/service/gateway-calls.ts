import {Failure} from './failure.ts'

/** What of a model server a caller of an endpoint gets to. */
export interface GatewayCall {
  endpoint: string
  /** The path at the model server. */
  path: string
  /** Whether a prediction would be answered is asked, whatever the model says of it is answered in our words. */
  isHealth: boolean
}

/** Below a model, or a version of it: what is asked for with GET or HEAD, and what with POST. */
const LOOKS = new Set(['', 'ready'])
const PREDICTIONS = new Set(['infer', 'infer_stream', 'generate', 'generate_stream'])
const REST = /^(?:\/versions\/[A-Za-z0-9][A-Za-z0-9._-]*)?(?:\/([a-z_]+))?$/

/**
 * The call that a request to `/endpoints/<name>/v2/…` makes, by what is allowed: health, and the model of the endpoint, which has its name. A model
 * server has more (it loads and unloads models, registers shared memory, shows pages), none of which is for who may only predict.
 * `path` is in its plain form (pathOf). Throws 404 for everything else.
 */
export function readCall(name: string, method: string, path: string): GatewayCall {
  const isLook = method === 'GET' || method === 'HEAD'
  const own = path.slice(`/endpoints/${name}`.length)
  const model = `/v2/models/${name}`
  if (path === `/endpoints/${name}${own}`) {
    if (isLook && /^\/v2\/health\/(live|ready)$/.test(own)) return {endpoint: name, path: `${model}/ready`, isHealth: true}
    const rest = own.startsWith(model) ? REST.exec(own.slice(model.length)) : null
    if (rest && (isLook ? LOOKS : PREDICTIONS).has(rest[1] ?? '')) return {endpoint: name, path: own, isHealth: false}
  }
  throw new Failure(404, 'NOT_FOUND', `endpoint ${name} answers health and the calls of its model ${name}, not ${method} ${path}`)
}
