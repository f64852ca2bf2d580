import {Flags} from '@oclif/core'
import {CliError, parseSize, type Context} from '../../lib/base/index.ts'
import type {RequestedSim, Gpus} from '../../lib/gpu/index.ts'
import type {SimSettings} from '../../lib/protocol/index.ts'
import type {RackNode} from '../../lib/rack/index.ts'
import type {Session} from '../base/session.ts'

/** What is asked for of GPUs; the manifest's `gpus` says it where no flag does. */
export const gpuFlags = {
  memory: Flags.string({
    helpValue: 'SIZE',
    description: 'memory of each, such as 2GiB: a share of a device',
    exclusive: ['fraction', 'whole'],
  }),
  fraction: Flags.string({
    helpValue: 'SHARE',
    description: 'this fraction of the memory and time of each, such as 0.25',
    exclusive: ['memory', 'whole'],
  }),
  whole: Flags.boolean({
    description: 'whole GPUs, shared with nobody (the default unless something says otherwise)',
    exclusive: ['memory', 'fraction'],
  }),
  cap: Flags.boolean({description: 'never use more time than the share, even if nobody else wants it'}),
  oversubscribe: Flags.boolean({
    description:
      "take turns on one GPU with others that do: together they may have more memory than it has (where the node's `gpu.oversubscribe` allows it)",
  }),
  wait: Flags.boolean({description: 'wait until enough is free'}),
  timeout: Flags.integer({helpValue: 'SECONDS', description: 'wait no longer than this', min: 0, dependsOn: ['wait']}),
  api: Flags.string({
    description:
      "API through which the command reaches the GPUs (default: the manifest's, else CUDA where a node shares such GPUs, else OpenCL)",
    options: ['cuda', 'opencl'],
  }),
  transport: Flags.string({
    description:
      'how the data travels (default: what the rack file says, else shared memory on the same machine and TLS elsewhere)',
    options: ['auto', 'tls', 'tcp', 'shm'],
  }),
}

export interface GpuFlags {
  memory?: string | undefined
  fraction?: string | undefined
  whole?: boolean | undefined
  cap?: boolean | undefined
  oversubscribe?: boolean | undefined
  wait?: boolean | undefined
  timeout?: number | undefined
  api?: string | undefined
  transport?: string | undefined
}

/** How GPUs in software are to be. */
export const simFlags = {
  'sim-devices': Flags.integer({
    helpValue: 'N',
    description: 'with sim: number of GPUs on each node (default: 1)',
    min: 1,
    max: 64,
  }),
  'sim-memory': Flags.string({
    helpValue: 'SIZE',
    description: "with sim: memory of each (default: 4GiB, or the profile's); only the used part is really allocated",
  }),
  'sim-profile': Flags.string({
    helpValue: 'CARD',
    description:
      'with sim: a card to be like: blackwell, hopper, ada, ampere or turing, or the absolute path of a profile on the node',
  }),
  'sim-capability': Flags.string({
    helpValue: 'M.N',
    description: "with sim: compute capability of the GPUs (default: 7.5, or the profile's)",
  }),
  'sim-driver': Flags.string({
    helpValue: 'M.N',
    description:
      "with sim: release of CUDA that the driver is of, and with it the newest PTX that it reads (default: 13.0, or the profile's)",
  }),
  'sim-multiprocessors': Flags.integer({
    helpValue: 'N',
    description:
      "with sim: number of multiprocessors that a GPU says it has (default: the node's cores, or the profile's)",
    min: 1,
    max: 1024,
  }),
}

/** More of it, for measurements and tests. */
export const simPaceFlags = {
  'sim-latency': Flags.string({
    helpValue: 'MICROSECONDS',
    description: 'with sim: time before a kernel or a copy starts (default: 0)',
  }),
  'sim-bandwidth': Flags.string({
    helpValue: 'GB/S',
    description: 'with sim: bandwidth of a copy in 10^9 bytes per second (default: what the machine reaches)',
  }),
  'sim-fault': Flags.string({
    helpValue: 'KIND:N',
    description:
      'with sim: inject a fault, launch:100 into the hundredth launch; also alloc, copy, memset, load, unmap, and flip: one wrong bit in what is copied from the GPU; separated by commas',
  }),
  'sim-machine-code': Flags.string({
    description:
      "with sim: kernels without PTX are launched and compute nothing, for counting calls; the GPU's name says so (default: they are an error)",
    options: ['accept'],
  }),
}

/** The settings that such flags say. `isSim`: sim may be what is served; if not, `hint` has it. Throws USAGE. */
export async function simOf(
  flags: Record<string, unknown>,
  isSim: boolean,
  hint: string,
): Promise<{sim?: SimSettings}> {
  const given = Object.entries(flags).filter(([name, value]) => name.startsWith('sim-') && value !== undefined)
  if (given.length === 0) return {}
  const {simSettings} = await import('../../lib/gpu/index.ts')
  const requested = given.map(([name, value]) => [name.slice('sim-'.length), value])
  const sim = simSettings(Object.fromEntries(requested) as RequestedSim, isSim, hint)
  return sim ? {sim} : {}
}

/** Memory of a node for leases that take turns; 0 where there are to be none. Throws USAGE. */
export function hostMemoryOf(text: string | undefined): {oversubscribe?: number} {
  if (text === undefined) return {}
  const oversubscribe = text === '0' ? 0 : parseSize(text)
  if (oversubscribe === undefined)
    throw new CliError('USAGE', `"${text}" is not a size of memory`, {hint: '--oversubscribe 64GiB, or 0 for none'})
  return {oversubscribe}
}

/** The nodes a gpu command is about, named one by one or by --on; all by default. */
export async function gpuNodes(session: Session, names: string[], on: string | undefined): Promise<RackNode[]> {
  const {selectNodes} = await import('../../lib/rack/index.ts')
  const selector = [...names, ...(on === undefined ? [] : [on])].join(',')
  return selectNodes(session.rack, selector === '' ? undefined : selector, session.rack.nodes)
}

export async function gpusOf(session: Session, context: Context): Promise<Gpus> {
  const {openGpus} = await import('../../lib/gpu/index.ts')
  return openGpus(session, context)
}

/** How long a GPU may take to come to rest before its programs go elsewhere. */
export const restFlag = Flags.integer({
  helpValue: 'SECONDS',
  description: 'give up if a GPU does not come to rest within this time',
  default: 10,
  min: 0,
  max: 600,
})

/** How long flags want to wait: seconds, Infinity without a limit, undefined not at all. */
export function waitSeconds({wait, timeout}: GpuFlags): number | undefined {
  return wait ? (timeout ?? Infinity) : undefined
}

/** Flags that say what GPUs, where none are asked for, are a mistake. Throws USAGE. */
export function needGpus(flags: GpuFlags): void {
  const given = (['memory', 'fraction', 'whole', 'cap', 'oversubscribe', 'wait', 'api', 'transport'] as const).find(
    (name) => flags[name] !== undefined && flags[name] !== false,
  )
  if (given) throw new CliError('USAGE', `--${given} says what GPUs, but none are asked for`, {hint: '--gpus 1'})
}
