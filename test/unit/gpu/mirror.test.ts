import {describe, expect, it} from 'vitest'
import {chooseDevices} from '../../../src/lib/gpu/choose.ts'
import {leaseFile} from '../../../src/lib/gpu/lease-file.ts'
import {mirrorReportOf} from '../../../src/lib/gpu/mirror.ts'
import {gpuRequest} from '../../../src/lib/gpu/request.ts'
import {requestText, shortage} from '../../../src/lib/gpu/shortage.ts'
import {device, GiB, held} from './devices.ts'

const pair = gpuRequest({mirror: true})
const places = (devices: Parameters<typeof chooseDevices>[0]): string[] | undefined =>
  chooseDevices(devices, pair)?.flatMap(({node, devices: own}) => own.map((one) => `${node}/${one.index}`))

describe('two GPUs that do the same', () => {
  it('are of two nodes, alike, and the freest such pair', () => {
    expect(places([device('a', 0), device('a', 1), device('b', 0)])).toEqual(['a/0', 'b/0'])
    expect(places([device('a', 0), device('a', 1)])).toBeUndefined()
    for (const other of [{name: 'H100'}, {memory: 8 * GiB}, {driver: '3.2'}, {capability: '9.0'}])
      expect(places([device('a', 0), device('b', 0, other)])).toBeUndefined()
    const shares = chooseDevices(
      [held('a', 0, {}), held('b', 0, {}), device('c', 0), device('d', 0)],
      gpuRequest({mirror: true, fraction: 0.5}),
    )
    expect(shares?.map(({node}) => node)).toEqual(['c', 'd'])
  })
  it('are asked for alone, through CUDA', () => {
    expect(pair).toMatchObject({count: 1, api: 'cuda', mirror: {onMismatch: 'stop'}})
    expect(gpuRequest({mirror: true, 'on-mismatch': 'primary'}, {count: 4, fraction: 0.5})).toMatchObject({
      count: 1,
      fraction: 0.5,
      mirror: {onMismatch: 'primary'},
    })
    expect(() => gpuRequest({mirror: true, count: 2})).toThrow('two GPUs do what one does')
    expect(() => gpuRequest({mirror: true, api: 'opencl'})).toThrow('through CUDA')
    expect(requestText(pair)).toBe('2 whole GPUs of two nodes that do the same')
  })
  it('are waited for where two could be alike, and else never come', () => {
    const busy = held('a', 0, {whole: true, memory: 16 * GiB, compute: 1})
    expect(shortage([busy, device('b', 0)], pair, [], 'rack lab')).toMatchObject({
      helps: 'waiting',
      message: '2 whole GPUs of two nodes that do the same are asked for, but they are not free',
    })
    expect(shortage([device('a', 0), device('a', 1)], pair, [], 'rack lab')).toMatchObject({
      helps: 'nothing',
      message: expect.stringContaining('no two nodes of rack lab have GPUs of one model') as string,
    })
  })
  it('stand in the lease file, and what became of them is read', () => {
    expect(leaseFile([], [], undefined, {onMismatch: 'primary'}).mirror).toEqual({on_mismatch: 'primary'})
    expect(leaseFile([], [], undefined)).not.toHaveProperty('mirror')
    expect(mirrorReportOf('mismatch: copy 3\nlost: b\nrefused: x\nlost: of a line that was c')).toEqual({
      lost: ['b', 'of a line that was c'],
      mismatches: ['copy 3'],
      refused: ['x'],
    })
    expect(mirrorReportOf('')).toEqual({lost: [], mismatches: [], refused: []})
  })
})
