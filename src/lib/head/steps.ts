import {sendFile} from '../artifact/index.ts'
import {LOCKED_PYTHON, readPythonLocks, type Context} from '../base/index.ts'
import {ensureEnvironment, startService, stopService, type Environment, type Host} from '../host/index.ts'
import {fill, type FromEnv, type FromStep, type Handlers, type Outputs} from '../plan/index.ts'
import type {Rack} from '../rack/index.ts'
import {warnOfReboot} from '../reboot/index.ts'

/** Id of the head's service on its node. */
export const SERVICE_ID = 'head'

type PlaceInput = {name: string; sha256: string; file: string; executable: boolean}

type StartInput = {
  /** Path of Node.js there. */
  node: string
  program: string
  config: {
    bind: string
    port: number
    host: string
    url?: string
    version: string
    python: FromStep
    store?: FromEnv
    artifacts?: FromEnv
  }
  restart: {max: number; windowSeconds: number}
  /** Seconds between SIGTERM and SIGKILL. */
  grace: number
}

export type HeadKinds = {
  'head.place': {input: PlaceInput; output: void}
  'head.environment': {input: {locks: string[]}; output: Environment & {python: string}}
  'head.start': {input: StartInput; output: void}
  'head.stop': {input: {grace: number}; output: void}
}

interface HeadEnv {
  host: Host
  /** Where MLflow keeps its data, where the rack file says so. */
  settings: {store?: string; artifacts?: string}
  context: Context
}

export const HEAD_HANDLERS: Handlers<HeadKinds, HeadEnv> = {
  'head.place': place,
  'head.environment': environment,
  'head.start': start,
  'head.stop': stop,
}

export function placeTitle({name, executable}: Pick<PlaceInput, 'name' | 'executable'>): string {
  return executable
    ? `Put a copy of this machine's Node.js ${process.version} there`
    : `Put the head's program there (${name})`
}

export function headEnv({head}: Rack, host: Host, context: Context): HeadEnv {
  return {
    host,
    settings: {...(head.store && {store: head.store}), ...(head.artifacts && {artifacts: head.artifacts})},
    context,
  }
}

async function place({file, ...input}: PlaceInput, _done: unknown, {host, context}: HeadEnv): Promise<void> {
  await sendFile(host, {file, verb: 'head.place', input, title: placeTitle(input)}, context)
}

async function environment(
  {locks}: {locks: string[]},
  _done: unknown,
  {host, context}: HeadEnv,
): Promise<Environment & {python: string}> {
  const built = await ensureEnvironment(
    host,
    {requirements: readPythonLocks(locks), python: LOCKED_PYTHON, user: SERVICE_ID},
    context,
  )
  return {...built, python: `${built.path}/bin/python`}
}

async function start(
  {node, program, config, restart, grace}: StartInput,
  done: Outputs<HeadKinds>,
  {host, settings, context}: HeadEnv,
): Promise<void> {
  const {path} = await host.call('head.configure', {
    config: fill(config, (from) => done.at(from), settings) as Record<string, unknown>,
  })
  const argv = [node, program, path]
  const {comesBack} = await startService(host, {id: SERVICE_ID, argv, restart, grace}, {replace: true})
  warnOfReboot(host.node, 'the head', comesBack, context)
  await host.call('head.tidy', {keep: argv})
}

async function stop({grace}: {grace: number}, _done: unknown, {host}: HeadEnv): Promise<void> {
  await stopService(host, SERVICE_ID, grace)
}
