import {isCliError, withProgress, type Context} from '../base/index.ts'
import type {Plan} from '../plan/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {attachGpus, planAttach, type Attached, type AttachInput} from './attach.ts'
import {runBench, whileHeld, type BenchAnswer} from './bench-program.ts'
import {measureLink, type LinkFigures} from './link.ts'
import {nativePath} from './native.ts'
import type {GpuRequest} from './types.ts'

export interface BenchInput {
  nodes: RackNode[]
  request: GpuRequest
  /** Seconds to wait for devices that others have; Infinity: for ever. */
  wait?: number
  transport?: string
}

/** What OpenCL costs on a leased device: medians. */
export interface GpuFigures {
  /** A question that only the device's side can answer. */
  roundTripUs: number
  /** A kernel that does nothing, of a thousand enqueued in a row. */
  enqueueUs: number
  /** The same, waited for. */
  enqueueFinishUs: number
  /** Blocking copies of 4 KiB. */
  write4KiBUs: number
  read4KiBUs: number
  /** Bytes of the large copies: 64 MiB where the share has room for them. */
  bulkBytes: number
  /** 10^9 bytes a second. */
  writeGBps: number
  readGBps: number
  /** 200 kernels of a millisecond or more, and their result. */
  computeMs: number
  /** In how much of that time the device computed, by its own clock: 0..1. */
  computeShare: number
  /** One of 2,000 small kernels, each with new arguments. */
  smallKernelUs: number
}

/** A device and what it and the link to it do. */
export interface BenchedGpu {
  node: string
  name: string
  /** Bytes of the share. */
  memory: number
  transport: 'shm' | 'tls' | 'tcp'
  /** What TCP alone does on the same way, measured just before; null where that could not be measured. */
  link: LinkFigures | null
  gpu: GpuFigures
}

interface Place {
  rack: Rack
  fleet: Fleet
}

/** What is being measured once this much is known. */
const NEXT: Readonly<Record<string, string>> = {
  bulk_bytes: 'round trip',
  round_trip_us: 'kernel enqueue',
  enqueue_us: 'enqueue and finish',
  enqueue_finish_us: '4 KiB copies',
  read_4KiB_us: 'large copies to the device',
  write_64MiB_GBps: 'large copies from the device',
  read_64MiB_GBps: 'computing kernels',
  compute_share: 'small kernels',
}

/** What benchGpus would lease now. Throws as planAttach. */
export async function planBench(place: Place, input: BenchInput, context: Context): Promise<Plan> {
  const {steps} = await planAttach(place, attachInput(input), context)
  const leases = steps.filter((step) => step.kind === 'gpu.lease')
  const measure = {
    id: 'measure',
    node: null,
    kind: 'gpu.bench',
    title: 'Measure the link to each and then the GPU, one after the other, and give back what was leased',
    input: {},
    needs: leases.map((step) => step.id),
  }
  return {command: 'gpu bench', steps: [...leases, measure]}
}

/**
 * Leases devices, measures one after the other with the link to it, and gives them back. Throws as attachGpus, and
 * GPU_FAILED where one cannot be measured.
 */
export async function benchGpus(place: Place, input: BenchInput, context: Context): Promise<BenchedGpu[]> {
  const program = nativePath('flexrack-bench', context.env)
  const driver = nativePath('libflexrack-opencl.so', context.env)
  const attached = await attachGpus(place, attachInput(input), context)
  try {
    return await whileHeld(attached.prefix, attached.env, context, async (held) => {
      const found: BenchedGpu[] = []
      for (const [at, {node, devices}] of attached.leases.entries()) {
        const link = await linkOf(place, attached, at, held)
        for (const {name, memory} of devices) {
          const gpu = await withProgress(held.reporter, [`Measuring ${name}`, node], (progress) =>
            runBench(
              program,
              {
                words: ['opencl', '--driver', driver, '--index', String(found.length)],
                env: attached.env,
                heard: (answer) => progress.detail(nextOf(answer)),
              },
              held,
            ),
          )
          found.push({
            node,
            name,
            memory,
            transport: transportOf(attached, at, input.transport),
            link,
            gpu: gpuFigures(gpu),
          })
        }
      }
      return found
    })
  } finally {
    await attached.release()
  }
}

/** OpenCL is what can be measured. */
function attachInput(input: BenchInput): AttachInput {
  return {...input, request: {...input.request, api: 'opencl'}, words: ['flexrack-bench']}
}

/** Without it the device's figures are still worth having. */
async function linkOf(
  {rack, fleet}: Place,
  {leases, ways}: Attached,
  at: number,
  context: Context,
): Promise<LinkFigures | null> {
  const [name, way] = [leases[at]?.node, ways[at]]
  const node = rack.nodes.find((one) => one.name === name)
  if (!node || !way) return null
  try {
    return await withProgress(context.reporter, ['Measuring the link', node.name], () =>
      measureLink(fleet, {node, route: way.route, bound: way.server.address}, context),
    )
  } catch (error) {
    if (!isCliError(error) || error.code === 'INTERRUPTED' || context.signal.aborted) throw error
    context.reporter.warn(
      `${node.name}: the link alone cannot be measured, so there is nothing to compare with: ${error.message}`,
    )
    return null
  }
}

/** auto is shared memory on the same machine, else TLS (native/client/lease_file.cpp). */
function transportOf({ways}: Attached, at: number, requested: string | undefined): BenchedGpu['transport'] {
  const way = ways[at]
  const wish = requested ?? way?.server.transport
  return wish === undefined || wish === 'auto'
    ? way && way.route.unix !== ''
      ? 'shm'
      : 'tls'
    : (wish as BenchedGpu['transport'])
}

function nextOf(answer: BenchAnswer): string {
  return Object.entries(NEXT).findLast(([known]) => known in answer)?.[1] ?? ''
}

/** flexrack-bench's words as ours. Pure. */
export function gpuFigures(answer: BenchAnswer): GpuFigures {
  const of = (name: string): number => Number(answer[name])
  return {
    roundTripUs: of('round_trip_us'),
    enqueueUs: of('enqueue_us'),
    enqueueFinishUs: of('enqueue_finish_us'),
    write4KiBUs: of('write_4KiB_us'),
    read4KiBUs: of('read_4KiB_us'),
    bulkBytes: of('bulk_bytes'),
    writeGBps: of('write_64MiB_GBps'),
    readGBps: of('read_64MiB_GBps'),
    computeMs: of('compute_ms'),
    computeShare: of('compute_share'),
    smallKernelUs: (of('many_small_ms') * 1000) / 2000,
  }
}
