import {sizeText} from '../../lib/base/index.ts'
import type {BenchedGpu} from '../../lib/gpu/index.ts'
import {percent} from './text.ts'
import {paint} from '../terminal/print.ts'
import {table} from '../terminal/render.ts'

const BAR = 20
/** What TCP went over, to be compared with. */
const WAYS = {
  loopback: 'TCP on this machine',
  address: 'TCP from here to the node',
  tunnel: 'TCP through the same SSH connection',
}

/** Each GPU with a table of what it does beside what the link alone does, and what follows from it in words. */
export function gpuBenchText(benched: BenchedGpu[]): string {
  return benched.map((one) => [titleOf(one), figuresTable(one), verdict(one).join('\n')].join('\n\n')).join('\n\n\n')
}

function titleOf({node, name, memory, transport, link}: BenchedGpu): string {
  const how =
    transport === 'shm' ? 'shared memory' : `${transport.toUpperCase()}${link?.way === 'tunnel' ? ' through SSH' : ''}`
  const title = `${paint.bold(`${node}: ${name}`)}, ${sizeText(memory)}, over ${how}`
  return link ? `${title}\nThe link alone: ${WAYS[link.way]}, measured just before.` : title
}

function figuresTable({gpu, link}: BenchedGpu): string {
  const large = sizeText(gpu.bulkBytes).replace('.0 ', ' ')
  const rows = [
    {what: 'round trip', measured: micro(gpu.roundTripUs), link: link && micro(link.roundTripUs)},
    {what: 'kernel enqueue', measured: micro(gpu.enqueueUs)},
    {what: 'kernel enqueue and finish', measured: micro(gpu.enqueueFinishUs), link: link && micro(link.roundTripUs)},
    {what: 'small kernel with new arguments', measured: micro(gpu.smallKernelUs)},
    // A write is over when the memory here may be used again: it waits for no answer.
    {what: '4 KiB to the GPU, blocking', measured: micro(gpu.write4KiBUs)},
    {what: '4 KiB from the GPU, blocking', measured: micro(gpu.read4KiBUs), link: link && micro(link.roundTripUs)},
    {
      what: `${large} to the GPU`,
      measured: giga(gpu.writeGBps),
      link: link && giga(link.toGBps),
      reaches: link && bar(gpu.writeGBps / link.toGBps),
    },
    {
      what: `${large} from the GPU`,
      measured: giga(gpu.readGBps),
      link: link && giga(link.fromGBps),
      reaches: link && bar(gpu.readGBps / link.fromGBps),
    },
    {what: 'kernels of a millisecond', measured: percent(gpu.computeShare), reaches: bar(gpu.computeShare)},
  ]
  const columns = [
    'what',
    {key: 'measured', align: 'right' as const},
    {key: 'link', title: 'THE LINK ALONE', align: 'right' as const},
    {key: 'reaches', title: 'REACHES', spare: true},
  ]
  return table(rows.map(shown), link ? columns : columns.filter((_, at) => at !== 2))
}

/** What people want to know: what the network costs them. */
export function verdict({gpu, link, transport}: BenchedGpu): string[] {
  const large = sizeText(gpu.bulkBytes).replace('.0 ', ' ')
  const computing = `A program of such kernels keeps the GPU busy ${percent(gpu.computeShare)} of the time.`
  if (!link) return [computing]
  const [writes, reads] = [gpu.writeGBps / link.toGBps, gpu.readGBps / link.fromGBps]
  const copies =
    transport === 'shm'
      ? `Shared memory carries ${large} to the GPU ${times(writes)}, and from it ${times(reads)}, as fast as TCP would on this machine.`
      : `${large} writes reach ${percent(writes)} of what the link carries, reads ${percent(reads)}.`
  const extra = gpu.roundTripUs - link.roundTripUs
  const trips =
    extra > 0
      ? `A round trip takes ${micro(extra)} more than the ${micro(link.roundTripUs)} of the link alone.`
      : `A round trip takes ${micro(-extra)} less than TCP alone.`
  return [copies, trips, computing]
}

function bar(share: number): string {
  const full = Math.max(0, Math.min(BAR, Math.round(share * BAR)))
  const colour = share >= 0.8 ? paint.green : share >= 0.5 ? paint.yellow : paint.red
  return `${colour('█'.repeat(full))}${paint.dim('·'.repeat(BAR - full))} ${percent(share)}`
}

function times(share: number): string {
  return `${share.toFixed(1)} times`
}

/** Microseconds for people: `2.9 µs`, `118 µs`, `20.4 ms`. */
export function micro(value: number): string {
  if (value < 10) return `${value.toFixed(1)} µs`
  return value < 10_000 ? `${Math.round(value)} µs` : `${(value / 1000).toFixed(1)} ms`
}

function giga(value: number): string {
  return value < 0.1 ? `${(value * 1000).toFixed(1)} MB/s` : `${value.toFixed(2)} GB/s`
}

/** What is not there stays empty. */
function shown({
  what,
  measured,
  link,
  reaches,
}: {
  what: string
  measured: string
  link?: string | null
  reaches?: string | null
}): Record<string, string> {
  return {what, measured, link: link ?? ' ', reaches: reaches ?? ' '}
}
