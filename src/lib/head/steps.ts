import {sendFile} from '../artifact/index.ts'
import {LOCKED_PYTHON, readPythonLocks, type Context} from '../base/index.ts'
import {ensureEnvironment, openHost, startService, stopService, type Environment, type Host} from '../host/index.ts'
import {fill, type FromEnv, type FromStep, type Handlers, type Outputs} from '../plan/index.ts'
import type {ServiceSocket} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import {warnOfReboot} from '../reboot/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {enrol, type EnrolInput} from './enrol.ts'
import {nodeNamed, SERVICE_ID} from './places.ts'
import {swap, type SwapInput} from './promote.ts'

type PlaceInput = {node: string; name: string; sha256: string; file: string; executable: boolean}

type StartInput = {
  /** Where it runs, and the path of Node.js there. */
  on: string
  node: string
  program: string
  config: {
    bind: string
    port: number
    host: string
    url?: string
    names?: string[]
    version: string
    python: FromStep | ''
    /** Of a standby. */
    follow?: {url: FromStep; ca: FromStep; node: string; near: boolean}
    store?: FromEnv
    artifacts?: FromEnv
  }
  /** Kept for it while it is started again. */
  sockets: ServiceSocket[]
  restart: {max: number; windowSeconds: number}
  /** Seconds between SIGTERM and SIGKILL. */
  grace: number
}

export type HeadKinds = {
  'head.place': {input: PlaceInput; output: void}
  'head.environment': {input: {node: string; locks: string[]}; output: Environment & {python: string}}
  'head.start': {input: StartInput; output: void}
  'head.enrol': {input: EnrolInput; output: {url: string; ca: string}}
  'head.swap': {input: SwapInput; output: void}
  'head.stop': {input: {node: string; grace: number}; output: void}
}

export interface HeadEnv {
  rack: Rack
  fleet: Fleet
  host(node: string): Promise<Host>
  /** Where MLflow keeps its data, where the rack file says so. */
  settings: {store?: string; artifacts?: string}
  context: Context
}

export const HEAD_HANDLERS: Handlers<HeadKinds, HeadEnv> = {
  'head.place': place,
  'head.environment': environment,
  'head.start': start,
  'head.enrol': enrol,
  'head.swap': swap,
  'head.stop': stop,
}

export function placeTitle({name, executable}: Pick<PlaceInput, 'name' | 'executable'>): string {
  return executable
    ? `Put a copy of this machine's Node.js ${process.version} there`
    : `Put the head's program there (${name})`
}

export function headEnv(rack: Rack, fleet: Fleet, context: Context): HeadEnv {
  const {head} = rack
  return {
    rack,
    fleet,
    host: (node) => openHost(fleet, nodeNamed(rack, node), context),
    settings: {...(head.store && {store: head.store}), ...(head.artifacts && {artifacts: head.artifacts})},
    context,
  }
}

async function place({node, file, ...input}: PlaceInput, _done: unknown, {host, context}: HeadEnv): Promise<void> {
  await sendFile(await host(node), {file, verb: 'head.place', input, title: placeTitle(input)}, context)
}

async function environment(
  {node, locks}: {node: string; locks: string[]},
  _done: unknown,
  {host, context}: HeadEnv,
): Promise<Environment & {python: string}> {
  const built = await ensureEnvironment(
    await host(node),
    {requirements: readPythonLocks(locks), python: LOCKED_PYTHON, user: SERVICE_ID},
    context,
  )
  return {...built, python: `${built.path}/bin/python`}
}

async function start(
  {on, node, program, config, sockets, restart, grace}: StartInput,
  done: Outputs<HeadKinds>,
  {host: hostOf, settings, context}: HeadEnv,
): Promise<void> {
  const host = await hostOf(on)
  const {path} = await host.call('head.configure', {
    config: fill(config, (from) => done.at(from), settings) as Record<string, unknown>,
  })
  const argv = [node, program, path]
  const {comesBack} = await startService(host, {id: SERVICE_ID, argv, sockets, restart, grace}, {replace: true})
  warnOfReboot(host.node, config.follow ? 'the standby' : 'the head', comesBack, context)
  await host.call('head.tidy', {keep: argv})
}

async function stop({node, grace}: {node: string; grace: number}, _done: unknown, {host}: HeadEnv): Promise<void> {
  await stopService(await host(node), SERVICE_ID, grace)
}
