import {CliError, parseSize} from '../base/index.ts'
import type {Api, Backend, FoundDrivers, SimSettings} from '../protocol/index.ts'

/** Which backend nodes are to serve. */
export interface BackendWish {
  /** Absent: what the node has had, else what it has a driver for. */
  backend?: Backend
  sim?: SimSettings
  /** Bytes of a node's memory for leases that take turns, 0 for none; absent: what the rack file says, else what the node has had. */
  oversubscribe?: number
  /** Where the node has no CUDA and nothing was asked for: sim, and not OpenCL. */
  otherwise?: 'sim'
}

export interface ChosenBackend {
  backend: Backend
  sim?: SimSettings
  /** Why, where nobody asked for this one. */
  why?: string
}

/** Flags of a GPU in software as they are written, by their names without `sim-`. */
export interface RequestedSim {
  devices?: number | undefined
  memory?: string | undefined
  profile?: string | undefined
  capability?: string | undefined
  driver?: string | undefined
  multiprocessors?: number | undefined
  'machine-code'?: string | undefined
  latency?: string | undefined
  bandwidth?: string | undefined
  fault?: string | undefined
}

/** Why a node has the backend that it had. */
export const AS_BEFORE = 'as before'

/**
 * Which backend a node serves, out of what is asked for, what it serves already and what it has. Pure. Throws
 * GPU_FAILED where it has nothing.
 */
export function chooseBackend(
  wish: BackendWish,
  node: string,
  before: Pick<ChosenBackend, 'backend' | 'sim'> | undefined,
  drivers: FoundDrivers | undefined,
): ChosenBackend {
  if (wish.backend) return {backend: wish.backend, ...(wish.sim && {sim: wish.sim})}
  if (before) return {backend: before.backend, ...(before.sim && {sim: before.sim}), why: AS_BEFORE}
  const {cuda, opencl} = drivers ?? {cuda: {found: false, why: 'it was not looked for'}}
  if (cuda.found) return {backend: 'cuda', why: cuda.why}
  if (wish.otherwise) return {backend: wish.otherwise, ...(wish.sim && {sim: wish.sim}), why: `no CUDA: ${cuda.why}`}
  if (opencl?.found) return {backend: 'opencl', why: `no CUDA: ${cuda.why}; ${opencl.why}`}
  throw new CliError(
    'GPU_FAILED',
    `${node} has no GPU that could be served. CUDA: ${cuda.why}. OpenCL: ${opencl?.why ?? 'it was not looked for'}`,
    {
      hint: 'flexrack gpu serve --backend sim   (a GPU in software)',
      details: {node},
    },
  )
}

/**
 * The settings that flags say. `isSim`: sim may be what is served; if not, `hint` has it. Throws USAGE for what cannot
 * be.
 */
export function simSettings(requested: RequestedSim, isSim: boolean, hint: string): SimSettings | undefined {
  const given = Object.entries(requested).filter(([, value]) => value !== undefined)
  if (given.length === 0) return undefined
  if (!isSim) throw new CliError('USAGE', `--sim-${given[0]?.[0]} says how a GPU in software is to be`, {hint})
  const {memory, ...rest} = requested
  const bytes = memory === undefined ? undefined : parseSize(memory)
  if (memory !== undefined && bytes === undefined)
    throw new CliError('USAGE', `"${memory}" is not a size of memory`, {hint: '--sim-memory 8GiB'})
  return {
    ...(Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as SimSettings),
    ...(bytes !== undefined && {memory: bytes}),
  }
}

/**
 * The API of the devices for a request that does not say: CUDA where any node shares such devices, free or not, else
 * OpenCL.
 */
export function apiOf(devices: readonly {api: string}[]): Api {
  return devices.some((device) => device.api === 'cuda') ? 'cuda' : 'opencl'
}
