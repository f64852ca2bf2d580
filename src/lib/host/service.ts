import type {ComesBack, OwnLeases, ServiceFront, ServiceSocket, ServiceState, Verbs} from '../protocol/index.ts'
import type {CallOptions, Host} from './types.ts'

/** A long-lived process on a node, kept running by a supervisor there. */
export interface ServiceSpec {
  /** Letters, digits, `.`, `_`, `-`: also the name of its folder below services/. */
  id: string
  argv: string[]
  /** Added to the node's own environment; kept in a 0600 file, never on a command line. */
  env?: Record<string, string>
  /** Absolute path there; its own folder by default. */
  cwd?: string
  /** Gives up when it ended more than `max` times within the window. Default: never start again. */
  restart?: {max: number; windowSeconds: number}
  /** Seconds between SIGTERM and SIGKILL; 10 by default. */
  grace?: number
  front?: ServiceFront
  /** Kept while it is started again. */
  sockets?: ServiceSocket[]
  /** It does not come back after a reboot. */
  untilReboot?: boolean
  /** The node's agent may start and end it, as the head wants. */
  onDemand?: boolean
  /** It listens there whenever it runs: others leave them free. */
  ports?: number[]
  /** Leased at each start. */
  gpus?: OwnLeases
}

export interface ServiceStatus {
  id: string
  /** lost: killed together with its supervisor, or the machine was restarted. waiting: ended, will be started again. */
  state: 'absent' | 'starting' | 'running' | 'waiting' | 'failed' | 'stopped' | 'lost'
  pid: number | null
  /** How often it ended by itself and was started again. */
  restarts: number
  /** Seconds since the epoch, or null. */
  startedAt: number | null
  /** How it ended last. */
  exit: {code: number | null; signal: string | null; text: string} | null
  /** Log offset at which this start of it begins. */
  logFrom: number
}

/**
 * Starts a service unless exactly this one runs already. Another command under the same id: CONFLICT, or with
 * `replace` the old process is ended first. With `define` it is only written down, stopped.
 */
export async function startService(
  host: Host,
  spec: ServiceSpec,
  options: {replace?: boolean; define?: boolean} = {},
): Promise<ServiceStatus & {started: boolean; comesBack: ComesBack}> {
  const {id, argv, env = {}, cwd, restart, grace = 10, front, sockets, untilReboot, onDemand, ports, gpus} = spec
  const limit = restart && {max: restart.max, window_seconds: restart.windowSeconds}
  const answer = await host.call('service.start', {
    id,
    argv,
    env,
    cwd,
    restart: limit,
    grace,
    front,
    ...(sockets && {sockets}),
    ...(untilReboot && {until_reboot: true}),
    ...(onDemand && {on_demand: true}),
    ...(ports && {ports}),
    ...(gpus && {gpus}),
    ...(options.define && {define: true}),
    replace: options.replace ?? false,
  })
  return {...fromRaw(answer), started: answer.started === true, comesBack: answer.comes_back}
}

/** What a service does now; `absent` where there never was one. Adopts the process of a supervisor that was killed. */
export async function serviceStatus(host: Host, id: string): Promise<ServiceStatus> {
  return fromRaw(await host.call('service.status', {id}))
}

/**
 * Ends a service: SIGTERM, the grace, SIGKILL, and proof that no process of it is left (REMOTE_FAILED otherwise).
 * Nothing to do where it does not run. `remove` deletes its folder too.
 */
export async function stopService(
  host: Host,
  id: string,
  graceSeconds?: number,
  options: {remove?: boolean} = {},
): Promise<ServiceStatus> {
  return fromRaw(await host.call('service.stop', {id, grace: graceSeconds, remove: options.remove ?? false}))
}

export interface ServiceLogOptions {
  /** Byte offset to begin at, counted from the first byte ever written. */
  offset?: number
  /** Instead: this many bytes before the end, and not before the last start. */
  tail?: number
  /** Goes on until the service has ended or `signal` is aborted. */
  follow?: boolean
  signal?: AbortSignal
  onData: (chunk: Buffer, offset: number) => void
}

/** Reads a service's log; returns the offset to go on from. NOT_FOUND where there is no such service. */
export async function followServiceLog(host: Host, id: string, options: ServiceLogOptions): Promise<number> {
  const {onData, signal, ...input} = options
  const call: CallOptions<Verbs['service.logs']['event']> = {
    onEvent: (event) => {
      if (event.event === 'log') onData(Buffer.from(event.data, 'base64'), event.offset)
    },
  }
  if (signal) call.signal = signal
  return (await host.call('service.logs', {id, ...input}, call)).offset
}

function fromRaw(raw: ServiceState): ServiceStatus {
  return {
    id: raw.id,
    state: raw.state,
    pid: raw.pid,
    restarts: raw.restarts,
    startedAt: raw.started_at,
    exit: raw.exit,
    logFrom: raw.log_from,
  }
}
