import type {GpuDevice, Holder} from '../../../src/lib/gpu/index.ts'

export const GiB = 1024 ** 3

/** A device of 16 GiB that nobody has, but for what is given. */
export function device(node: string, index: number, parts: Partial<GpuDevice> = {}): GpuDevice {
  return {
    node,
    index,
    id: `0:${index}`,
    name: 'pthread-cpu',
    vendor: 'somebody',
    driver: '3.1',
    api: 'opencl',
    capability: null,
    memory: 16 * GiB,
    computeUnits: 2,
    free: {memory: 16 * GiB, compute: 1},
    oversubscribed: null,
    whole: false,
    used: 0,
    utilisation: 0,
    holders: [],
    ...parts,
  }
}

/** The same with shares taken. */
export function held(node: string, index: number, ...holders: Partial<Holder>[]): GpuDevice {
  const all = holders.map((one) => ({
    lease: 'aa',
    owner: 'ana@laptop',
    purpose: 'attach train.py',
    memory: 4 * GiB,
    compute: 0.25,
    whole: false,
    longestLaunch: null,
    ...one,
  }))
  const whole = all.some((one) => one.whole)
  const memory = all.reduce((sum, one) => sum + one.memory, 0)
  const compute = all.reduce((sum, one) => sum + one.compute, 0)
  return device(node, index, {
    holders: all,
    whole,
    free: whole ? {memory: 0, compute: 0} : {memory: 16 * GiB - memory, compute: 1 - compute},
  })
}
