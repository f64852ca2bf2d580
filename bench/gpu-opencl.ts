// OpenCL on a device that is elsewhere: every OpenCL row of native.md's table, in one run beside native PoCL, the TCP
// floor, and the peer (PoCL's own remote driver) where FLEXRACK_BENCH_POCLD and FLEXRACK_BENCH_POCLR_VENDORS say where
// it was built.
import {spawnSync} from 'node:child_process'
import {join} from 'node:path'
import {buildNative} from '../scripts/build-native.ts'
import {report, root, type Row} from './measure.ts'

interface Micro {
  enqueue_us: number
  enqueue_finish_us: number
  write_64MiB_GBps: number
  read_64MiB_GBps: number
  write_4KiB_us: number
  read_4KiB_us: number
  compute_ms: number
  many_small_ms: number
}

type Remote = 'tcp' | 'tls' | 'shm'
type Found = {floor: {rtt_us: number; stream_GBps: number}; native: Micro; peer?: Micro} & Record<Remote, Micro>

await buildNative()
const done = spawnSync('python3', [join(root, 'native/bench/compare.py')], {
  stdio: ['ignore', 'pipe', 'inherit'],
  encoding: 'utf8',
})
if (done.status !== 0) throw new Error(`native/bench/compare.py ended with ${done.status ?? done.signal}`)
const found = JSON.parse(done.stdout) as Found
const {floor, native, peer} = found

/**
 * A time with what it may be: native, one round trip and 15 µs. Shared memory needs no round trip over TCP, yet has the
 * same bar.
 */
const roundTrip = (what: string, key: 'enqueue_finish_us' | 'write_4KiB_us' | 'read_4KiB_us'): Row[] =>
  rows(what, key, 'µs', () => native[key] + floor.rtt_us + 15, 'lower')

const bandwidth = (what: string, key: 'write_64MiB_GBps' | 'read_64MiB_GBps'): Row[] =>
  rows(what, key, 'GB/s', (how) => (how === 'shm' ? 0.7 * native[key] : 0.9 * floor.stream_GBps), 'higher')

const share = (what: string, key: 'compute_ms' | 'many_small_ms', bar?: number): Row[] => [
  ...(['tcp', 'tls', 'shm'] as const).map((how): Row => ({
    what: `${what}, native over ${how}`,
    value: native[key] / found[how][key],
    unit: '× native',
    better: 'higher',
    ...(bar !== undefined && {bar}),
  })),
  ...(peer ? [{what: `${what}, native over the peer`, value: native[key] / peer[key], unit: '× native' as const}] : []),
]

report(
  'gpu-opencl',
  [
    {what: 'TCP round trip, the floor', value: floor.rtt_us, unit: 'µs'},
    {what: 'TCP stream, the floor', value: floor.stream_GBps, unit: 'GB/s'},
    ...rows('kernel enqueue, pipelined', 'enqueue_us', 'µs', () => 5, 'lower'),
    ...roundTrip('enqueue and finish', 'enqueue_finish_us'),
    ...bandwidth('64 MiB to the device', 'write_64MiB_GBps'),
    ...bandwidth('64 MiB from the device', 'read_64MiB_GBps'),
    ...roundTrip('4 KiB to the device, blocking', 'write_4KiB_us'),
    ...roundTrip('4 KiB from the device, blocking', 'read_4KiB_us'),
    ...share('a program that computes: 200 kernels of some milliseconds', 'compute_ms', 0.95),
    ...share('a program that enqueues much: 2,000 small kernels with new arguments', 'many_small_ms'),
  ],
  [
    'Client, daemon and device share this one machine and its cores: what the wire costs is taken from the device, which is the processor itself.',
    'A blocking write returns when the memory may be used again, as OpenCL says; the data is then on its way. Large ones are timed until it is there.',
    ...(peer
      ? ['The peer is PoCL-R, built from its sources, over the same PoCL device.']
      : ['The peer was not given, so it was not measured.']),
  ],
)

/** Native and the peer for information, ours with a bar. */
function rows(
  what: string,
  key: keyof Micro,
  unit: 'µs' | 'GB/s',
  bar: (how: Remote) => number,
  better: 'lower' | 'higher',
): Row[] {
  return [
    {what: `${what}, native`, value: native[key], unit},
    ...(peer ? [{what: `${what}, peer`, value: peer[key], unit}] : []),
    ...(['tcp', 'tls', 'shm'] as const).map((how): Row => ({
      what: `${what}, ${how}`,
      value: found[how][key],
      unit,
      bar: bar(how),
      better,
    })),
  ]
}
