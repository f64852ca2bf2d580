// How fast the GPU in software computes: thread instructions (PTX instructions as written, times threads) for kernels
// of several kinds.
import {spawnSync} from 'node:child_process'
import {join} from 'node:path'
import {buildNative} from '../scripts/build-native.ts'
import {median, report, root, type Row} from './measure.ts'

const KERNELS: Record<string, string> = {
  integer: 'integer arithmetic',
  fma: 'fused multiply-add, float',
  streaming: 'streaming through global memory',
  matmul: 'matrix product, tiles in shared memory',
  histogram: 'histogram, atomics in shared memory',
  shuffles: 'sums over a warp, shuffles',
  elementwise: 'element-wise, x sigmoid(x) as torch.compile writes it',
  reduction: 'sums of rows, shuffles and shared memory',
  softmax: 'softmax of rows',
  tensor: 'matrix product of halves: mma, ldmatrix, cp.async as Triton writes them',
  md5: 'MD5 as hashcat writes it',
  numba: 'a polynomial in f64 as numba writes it',
  cupy: 'element-wise with indices by division as CuPy writes it',
  triton: 'bfloat16 under a mask as Triton writes it',
  llama: 'products of bytes: mma, ldmatrix as llama.cpp writes them',
  tinygrad: 'matrix product without tiles as tinygrad writes it',
  nccl: 'volatile 16-byte copies with a sum as NCCL writes them',
}

/** A round of all kernels: a minute on a machine with much else to do. Whoever takes longer hangs. */
const MOST_MS = 300_000
const TURNS = 5
/** No turn begins later. */
const PATIENCE_MS = 240_000

type Speeds = Record<string, number>

await buildNative()
const build = join(root, 'native/build/release')
const own = join(build, 'drivers/sim')
// The driver's folder of another version, to compare with: the first one made no machine code.
const other = process.env.FLEXRACK_BENCH_BESIDE
const cases: Record<string, () => Speeds> = {
  translated: () => measured(own),
  interpreted: () => measured(own, {FLEXRACK_SIM_INTERPRET: '1'}),
  ...(other !== undefined && {other: () => measured(other)}),
}
const turns: Record<string, Speeds>[] = []
for (const started = Date.now(); turns.length < TURNS && (turns.length === 0 || Date.now() - started < PATIENCE_MS);) {
  console.error(`Turn ${turns.length + 1} of ${TURNS} at most ...`)
  turns.push(Object.fromEntries(Object.entries(cases).map(([name, run]) => [name, run()])))
}
const middle = (value: (turn: Record<string, Speeds>) => number | undefined): number =>
  median(turns.map((turn) => value(turn) ?? Number.NaN))
report(
  'sim-speed',
  Object.entries(KERNELS).flatMap(([key, what]): Row[] => [
    {
      what: `${what}: for each second of a core`,
      value: middle((turn) => turn.translated?.[`${key}_per_core`]),
      unit: 'million/s',
    },
    {
      what: `${what}: the same, by the interpreter alone`,
      value: middle((turn) => turn.interpreted?.[`${key}_per_core`]),
      unit: 'million/s',
    },
    {
      what: `${what}: by the clock, all cores`,
      value: middle((turn) => turn.translated?.[`${key}_per_second`]),
      unit: 'million/s',
    },
    {
      what: `${what}: processor time against a C++ loop of the same`,
      value: middle((turn) => turn.translated?.[`${key}_loop`]),
      unit: '× native',
    },
    ...(other === undefined
      ? []
      : [
          {
            what: `${what}: times as fast as the version beside it`,
            value: middle(
              (turn) =>
                (turn.translated?.[`${key}_per_core`] ?? Number.NaN) / (turn.other?.[`${key}_per_core`] ?? Number.NaN),
            ),
            unit: '× one',
            bar: 3,
            better: 'higher',
          } satisfies Row,
          {
            what: `${what}: times as fast as that one a C++ loop of the same is, the floor`,
            value: middle((turn) => turn.other?.[`${key}_loop`]),
            unit: '× one',
          } satisfies Row,
        ]),
  ]),
  [
    `Thread instructions: PTX instructions as they are written, times the threads that carry them out. What a core does in a second is of processor time, so what else the machine does matters little to it, but to the memory that all share. A C++ loop that does the same work (native/bench/kernel_loops.cpp, -O3 for AVX2) ran in turns with each kernel on one core, as gcc vectorises it or does not: 2 × native is twice its processor time. All took turns, ${turns.length} of them, in each the best of many rounds; the medians of the turns.`,
  ],
)

function measured(driver: string, more: NodeJS.ProcessEnv = {}): Speeds {
  const env = {
    ...process.env,
    FLEXRACK_SIM_CAPABILITY: '9.0',
    FLEXRACK_SIM_CACHE: 'off',
    LD_LIBRARY_PATH: driver,
    ...more,
  }
  const done = spawnSync(join(build, 'flexrack-bench'), ['kernels'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    timeout: MOST_MS,
    killSignal: 'SIGKILL',
  })
  const found = Object.assign(
    {},
    ...done.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as object),
  ) as Speeds
  if (done.error !== undefined)
    throw new Error(
      `flexrack-bench kernels did not end in ${MOST_MS / 1000} s; the last kernel it had done: ${Object.keys(found).at(-1) ?? 'none'}`,
    )
  if (done.status !== 0) throw new Error(`flexrack-bench kernels ended with ${done.status ?? done.signal}`)
  return found
}
