// Shares of a device's time: two clients on one device, each with its part, over ten seconds, with OpenCL and with
// CUDA.
import {spawnSync} from 'node:child_process'
import {join} from 'node:path'
import {buildNative} from '../scripts/build-native.ts'
import {report, root, type Row} from './measure.ts'

/** What each case should give, in percent of the device's time; within five points, and within two for two halves. */
const WANTED: Record<string, number[]> = {
  'half and half': [50, 50],
  'a quarter and three quarters': [25, 75],
  'alone with a half': [100],
  'alone with a quarter, capped': [25],
  'a flood of tiny kernels beside long ones, half each': [50, 50],
}

await buildNative()
function measured(api: 'opencl' | 'cuda', title: string): Row[] {
  const done = spawnSync('python3', [join(root, 'native/bench/shares.py'), api], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (done.status !== 0) throw new Error(`native/bench/shares.py ${api} ended with ${done.status ?? done.signal}`)
  const found = JSON.parse(done.stdout) as Record<string, number[]>
  return Object.entries(found).flatMap(([name, values]) =>
    values.flatMap((value, index): Row[] => {
      const wanted = WANTED[name]?.[index] ?? 0
      const what = `${title}${name}${values.length > 1 ? `: the ${index === 0 ? 'first' : 'second'} gets` : ''}`
      return [
        {what, value, unit: '%'},
        {
          what: `${what}, points from ${wanted}`,
          value: Math.abs(value - wanted),
          unit: '%',
          bar: name === 'half and half' ? 2 : 5,
        },
      ]
    }),
  )
}

const rows = [...measured('opencl', ''), ...measured('cuda', 'CUDA, ')]
report('gpu-shares', rows, [
  'The device is the processor itself, which clients and daemon use too. Of two of one kind, the part of what both got done; else the part of what is done alone on the whole device.',
])
