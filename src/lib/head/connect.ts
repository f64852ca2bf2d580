import {CliError, isCliError, Secret, type Context} from '../base/index.ts'
import {serviceStatus} from '../host/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {requestJson, type HttpRequest} from '../tracking/index.ts'
import {openHeadHost, SERVICE_ID} from './plan.ts'
import type {DoorRecord} from './types.ts'

/** A way to the head's door, through the node's SSH connection. */
export interface HeadConnection {
  /** Base URL from here, through a forward; usable as MLFLOW_TRACKING_URI. */
  uri: string
  /** Base URL that nodes use. */
  nodeUri: string
  /** The admin token. */
  token: Secret
  /** Calls the head's own API; errors as requestJson, plus the head's own codes (LOCKED, CONFLICT). */
  request<T>(method: HttpRequest['method'], path: string, body?: unknown): Promise<T>
  close(): Promise<void>
}

/**
 * Opens a forward to the head of a rack. Errors: NOT_FOUND where it was never started or was stopped, HEAD_FAILED where
 * it ended again and again; whether it answers is seen at the first request.
 */
export async function connectHead(rack: Rack, fleet: Fleet, context: Context): Promise<HeadConnection> {
  const host = await openHeadHost(rack, fleet, context)
  const [{door, token}, service] = await Promise.all([host.call<{door: DoorRecord | null; token: string | null}>('head.access', {}), serviceStatus(host, SERVICE_ID)])
  const hint = `flexrack head start --rack ${rack.name}`
  if (service.state === 'failed') throw new CliError('HEAD_FAILED', `the head of rack ${rack.name} ended again and again`, {hint: 'flexrack head status', details: {node: host.node}})
  if (!door || !token || ['absent', 'stopped', 'lost'].includes(service.state)) {
    throw new CliError('NOT_FOUND', `rack ${rack.name} has no head running`, {hint, details: {node: host.node}})
  }
  const targetHost = ['0.0.0.0', '::', ''].includes(rack.head.bind) ? '127.0.0.1' : rack.head.bind
  const forward = await host.shell.forwardLocal({targetHost, targetPort: door.port})
  const uri = `http://127.0.0.1:${forward.port}`
  const secret = new Secret(token)
  const peer = `the head of rack ${rack.name}`
  return {
    uri,
    nodeUri: door.url,
    token: secret,
    request: async <T>(method: HttpRequest['method'], path: string, body?: unknown): Promise<T> => {
      try {
        return await requestJson<T>({method, url: `${uri}${path}`, peer, token: secret, signal: context.signal, ...(body !== undefined && {json: body})})
      } catch (error) {
        if (isCliError(error, 'NODE_UNREACHABLE') && !error.hint) throw new CliError('NODE_UNREACHABLE', error.message, {hint: 'flexrack head status', details: error.details, cause: error})
        throw error
      }
    },
    close: () => forward.close(),
  }
}
