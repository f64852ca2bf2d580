// How fast the GPU in software computes: thread instructions (PTX instructions as written, times threads) for kernels of several kinds.
import {spawnSync} from 'node:child_process'
import {join} from 'node:path'
import {buildNative} from '../scripts/build-native.ts'
import {report, root, type Row} from './measure.ts'

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

await buildNative()
const build = join(root, 'native/build/release')
const found = measured({}), interpreted = measured({FLEXRACK_SIM_INTERPRET: '1'})
report('sim-speed', Object.entries(KERNELS).flatMap(([key, what]): Row[] => [
  {what: `${what}: for each second of a core`, value: found[`${key}_per_core`] ?? Number.NaN, unit: 'million/s'},
  {what: `${what}: the same, by the interpreter alone`, value: interpreted[`${key}_per_core`] ?? Number.NaN, unit: 'million/s'},
  {what: `${what}: by the clock, all cores`, value: found[`${key}_per_second`] ?? Number.NaN, unit: 'million/s'},
  {what: `${what}: processor time against a C++ loop of the same`, value: found[`${key}_loop`] ?? Number.NaN, unit: '× native'},
]), ['Thread instructions: PTX instructions as they are written, times the threads that carry them out. What a core does in a second is of processor time, so what else the machine does matters little to it. A C++ loop that does the same work (native/bench/kernel_loops.cpp, -O3 for AVX2) ran in turns with each kernel on one core, as gcc vectorises it or does not: 2 × native is twice its processor time. The best of seven rounds.'])

function measured(more: NodeJS.ProcessEnv): Record<string, number> {
  const env = {...process.env, FLEXRACK_SIM_CAPABILITY: '9.0', LD_LIBRARY_PATH: join(build, 'drivers/sim'), ...more}
  const done = spawnSync(join(build, 'flexrack-bench'), ['kernels'], {env, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8'})
  if (done.status !== 0) throw new Error(`flexrack-bench kernels ended with ${done.status ?? done.signal}`)
  return Object.assign({}, ...done.stdout.trim().split('\n').map((line) => JSON.parse(line) as object)) as Record<string, number>
}
