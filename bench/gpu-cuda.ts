// CUDA on a device that is elsewhere: what it costs a client, over a simulated GPU whose kernels do nothing, beside
// that GPU natively, the wire alone and raw TCP, all in one run. So the numbers are ours and not a device's.
import {execFileSync, spawnSync} from 'node:child_process'
import {join} from 'node:path'
import {buildNative} from '../scripts/build-native.ts'
import {report, root, type Row} from './measure.ts'

type Remote = 'shm' | 'tcp' | 'tls'
type Call = 'launch' | 'launch_8' | 'copy_4KiB' | 'event_record' | 'stream_wait'
type Micro = Record<
  | `${Call}_${'' | 'process_'}cpu_us`
  | `${'' | 'pinned_'}${'write' | 'read'}_64MiB_GBps`
  | 'init_ms'
  | 'first_launch_ms'
  | 'attribute_ns'
  | 'context_ns'
  | 'launch_us'
  | 'launch_wait_us'
  | 'write_4KiB_us'
  | 'read_4KiB_us',
  number
>
interface Wire {
  round_trip_us: number
  append_us: number
  put_GBps: number
  get_GBps: number
  put_send_s_per_GB: number
  put_receive_s_per_GB: number
  get_send_s_per_GB: number
  get_receive_s_per_GB: number
}
interface Bare {
  aes: {s_per_GB: number}
  'raw tcp': {send_s_per_GB: number; receive_s_per_GB: number}
}
type Found = Record<Remote | 'native', Micro> & {
  floor: {rtt_us: number; stream_GBps: number; stream_from_GBps: number}
  wire: Record<Remote, Wire> & Bare
  /** Absent where the machine allows no loopback of 10 Gb/s. */
  shaped?: Record<'tcp' | 'tls', Wire> & Bare
  trips: Record<Remote, {blocking: number; of: Record<string, number>}>
}

const REMOTES = ['shm', 'tcp', 'tls'] as const
/** Of processor time for a call that waits for nothing; native.md's for a launch. */
const CALL_BAR = 1.5

await buildNative()
execFileSync('cmake', ['--build', join(root, 'native/build/release'), '--target', 'flexrack-link-bench'], {
  stdio: ['ignore', 2, 2],
})
const done = spawnSync('python3', [join(root, 'native/bench/cuda.py')], {
  stdio: ['ignore', 'pipe', 'inherit'],
  encoding: 'utf8',
})
if (done.status !== 0) throw new Error(`native/bench/cuda.py ended with ${done.status ?? done.signal}`)
const found = JSON.parse(done.stdout) as Found
const {floor, wire, trips, shaped} = found
const info = (what: string, value: number, unit: Row['unit']): Row => ({what, value, unit})
const everywhere = (
  what: string,
  key: keyof Micro,
  unit: Row['unit'],
  bar?: (how: Remote) => Pick<Row, 'bar' | 'better'>,
): Row[] => [
  info(`${what}, native`, found.native[key], unit),
  ...REMOTES.map((how): Row => ({...info(`${what}, ${how}`, found[how][key], unit), ...bar?.(how)})),
]

/** Of the calling thread, and of all threads of its process: what flushes, reads and encrypts is among these. */
const processor = (what: string, key: Call, bar?: number): Row[] => [
  ...everywhere(`${what}: its thread`, `${key}_cpu_us`, 'µs', () => ({...(bar !== undefined && {bar})})),
  ...REMOTES.map((how) =>
    info(`${what}: all threads of the client, ${how}`, found[how][`${key}_process_cpu_us`], 'µs'),
  ),
]

/** What a call that waits may take: native, one round trip over TCP where it goes over TCP, and 15 µs. */
const waiting = (what: string, key: 'launch_wait_us' | 'write_4KiB_us' | 'read_4KiB_us'): Row[] =>
  everywhere(what, key, 'µs', (how) => ({bar: found.native[key] + (how === 'shm' ? 0 : floor.rtt_us) + 15}))

/** Of both ends: what TCP and the cipher alone cost, both measured with it; the rest is ours. */
const bytes = (): Row[] => {
  const tcp = wire['raw tcp'].send_s_per_GB + wire['raw tcp'].receive_s_per_GB
  const both = (how: Remote, way: 'put' | 'get'): number =>
    wire[how][`${way}_send_s_per_GB`] + wire[how][`${way}_receive_s_per_GB`]
  const ratio = (value: number, bar?: number): Omit<Row, 'what'> => ({value, unit: '× one', ...(bar && {bar})})
  return [
    info('processor time a GB, both ends: raw TCP', tcp, 's'),
    info('processor time a GB, one end: AES-128-GCM of 16 KiB', wire.aes.s_per_GB, 's'),
    ...(['put', 'get'] as const).flatMap((way): Row[] => {
      const where = way === 'put' ? 'there' : 'back'
      return [
        ...REMOTES.map((how) => info(`processor time a GB, both ends: ${where}, ${how}`, both(how, way), 's')),
        {what: `the same, tcp over raw TCP, ${where}`, ...ratio(both('tcp', way) / tcp)},
        {
          what: `the same, tls over raw TCP and the cipher at both ends, ${where}`,
          ...ratio(both('tls', way) / (tcp + 2 * wire.aes.s_per_GB), 1.15),
        },
        ...(shaped === undefined
          ? []
          : [
              {
                what: `10 Gb/s: tls over tcp, ${where}`,
                ...ratio(shaped.tls[`${way}_GBps`] / shaped.tcp[`${way}_GBps`], 0.9),
                better: 'higher' as const,
              },
            ]),
      ]
    }),
  ]
}

const copy = (what: string, way: 'write' | 'read'): Row[] =>
  (['', 'pinned_'] as const).flatMap((memory) => {
    const key = `${memory}${way}_64MiB_GBps` as const
    return everywhere(`${what}, ${memory === '' ? 'pageable' : 'pinned'} memory`, key, 'GB/s', (how) => ({
      bar:
        how === 'shm' ? 0.7 * found.native[key] : 0.9 * (way === 'write' ? floor.stream_GBps : floor.stream_from_GBps),
      better: 'higher',
    }))
  })

report(
  'gpu-cuda',
  [
    info('TCP round trip, the floor', floor.rtt_us, 'µs'),
    info('TCP stream to the other side, the floor', floor.stream_GBps, 'GB/s'),
    info('TCP stream from the other side, the floor', floor.stream_from_GBps, 'GB/s'),
    ...REMOTES.flatMap((how) => [
      info(`the wire alone: round trip, ${how}`, wire[how].round_trip_us, 'µs'),
      info(`the wire alone: a frame appended, ${how}`, wire[how].append_us, 'µs'),
      ...(['put', 'get'] as const).map((way): Row => ({
        ...info(`the wire alone: 64 MiB ${way === 'put' ? 'there' : 'back'}, ${how}`, wire[how][`${way}_GBps`], 'GB/s'),
        ...(how === 'tls' && {bar: 1.8, better: 'higher'}),
      })),
    ]),
    ...bytes(),
    ...REMOTES.map((how) =>
      info(`answers waited for from cuInit to the end of the first launch, ${how}`, trips[how].blocking, 'answers'),
    ),
    ...everywhere('cuInit', 'init_ms', 'ms'),
    ...everywhere('cuInit to the end of the first launch', 'first_launch_ms', 'ms'),
    ...processor('launch without parameters', 'launch', CALL_BAR),
    ...processor('launch with 8 parameters', 'launch_8', CALL_BAR),
    ...processor('asynchronous copy of 4 KiB to the device', 'copy_4KiB'),
    ...processor('event record', 'event_record', CALL_BAR),
    ...processor('stream wait for an event', 'stream_wait', CALL_BAR),
    ...everywhere('an attribute of the device', 'attribute_ns', 'ns'),
    ...everywhere('the device of the context', 'context_ns', 'ns'),
    ...everywhere('a launch of many, until all are over', 'launch_us', 'µs'),
    ...waiting('a launch and the wait for it', 'launch_wait_us'),
    ...waiting('4 KiB to the device, waited for', 'write_4KiB_us'),
    ...waiting('4 KiB from the device, waited for', 'read_4KiB_us'),
    ...copy('64 MiB to the device', 'write'),
    ...copy('64 MiB from the device', 'read'),
  ],
  [
    'The device is a GPU in software whose kernels return at once; client, daemon and device share this one machine and its cores.',
    'Of calls that wait for nothing: processor time of the calling thread, and of all threads of the client until the device is idle again. No runtime library is between.',
    'Natively, this device copies 4 KiB in half a microsecond and more than any GPU waits for nothing: what native adds to a bar is little.',
  ],
)
