import {describe, expect, it} from 'vitest'
import {chooseDevices} from '../../../src/lib/gpu/choose.ts'
import type {GpuRequest} from '../../../src/lib/gpu/index.ts'
import {shortage} from '../../../src/lib/gpu/shortage.ts'
import {device, GiB, held} from './devices.ts'

const ask = (parts: Partial<GpuRequest>): GpuRequest => ({count: 1, cap: false, ...parts})
const places = (devices: Parameters<typeof chooseDevices>[0], request: Partial<GpuRequest>): string[] | undefined =>
  chooseDevices(devices, ask(request))?.flatMap(({node, devices: own}) => own.map((one) => `${node}/${one.index}`))

describe('the devices for a request', () => {
  it('are on one node where one has enough, even if another has freer ones', () => {
    expect(places([device('a', 0), held('b', 0, {}), held('b', 1, {})], {count: 2, memory: GiB})).toEqual([
      'b/0',
      'b/1',
    ])
  })
  it('are the freest of the node with the freest', () => {
    const devices = [
      held('a', 0, {memory: 8 * GiB}),
      held('b', 0, {memory: 8 * GiB}),
      device('b', 1),
      held('b', 2, {memory: GiB}),
    ]
    expect(places(devices, {fraction: 0.25})).toEqual(['b/1'])
    expect(places(devices, {count: 2, fraction: 0.25})).toEqual(['b/1', 'b/2'])
  })
  it('are spread over as few nodes as possible, in the order of the rack', () => {
    const devices = [device('a', 0), device('b', 0), device('b', 1), device('c', 0), device('c', 1), device('c', 2)]
    expect(places(devices, {count: 4})).toEqual(['b/0', 'c/0', 'c/1', 'c/2'])
    expect(places(devices, {count: 6})).toEqual(['a/0', 'b/0', 'b/1', 'c/0', 'c/1', 'c/2'])
  })
  it('are the whole request or nothing', () => {
    expect(places([device('a', 0), device('b', 0)], {count: 3})).toBeUndefined()
  })
  it('are whole only where nobody has a share', () => {
    expect(places([held('a', 0, {memory: 1, compute: 0.001}), device('a', 1)], {})).toEqual(['a/1'])
    expect(places([held('a', 0, {whole: true, memory: 16 * GiB, compute: 1})], {memory: 1})).toBeUndefined()
  })
  it('need the fraction of the time too, and exactly what is left is enough', () => {
    expect(places([held('a', 0, {memory: GiB, compute: 0.75})], {fraction: 0.5})).toBeUndefined()
    expect(places([held('a', 0, {memory: 12 * GiB, compute: 0.75})], {fraction: 0.25})).toEqual(['a/0'])
    expect(places([held('a', 0, {memory: 12 * GiB, compute: 0.75})], {memory: 4 * GiB + 1})).toBeUndefined()
  })
  it('are, for a lease that takes turns, those on which one more may be granted, whoever has their memory', () => {
    const beyond = {limit: 64 * GiB, granted: 36 * GiB, free: 16 * GiB, physical: 0, swapped: 0, isThrashing: false}
    const full = held('b', 0, {memory: 12 * GiB, compute: 1})
    const turns = {memory: 12 * GiB, oversubscribe: true}
    expect(places([device('a', 0), full], turns)).toBeUndefined()
    expect(places([device('a', 0), {...full, oversubscribed: beyond}], turns)).toEqual(['b/0'])
    expect(places([{...full, oversubscribed: {...beyond, free: 11 * GiB}}], turns)).toBeUndefined()
    expect(places([{...full, oversubscribed: {...beyond, isThrashing: true}}], turns)).toBeUndefined()
    expect(shortage([device('a', 0)], ask(turns), [], 'rack lab')).toMatchObject({
      helps: 'nothing',
      hint: 'flexrack gpu serve --oversubscribe 64GiB',
    })
  })
  it('say how much of each is taken', () => {
    expect(chooseDevices([device('a', 0)], ask({fraction: 0.25}))).toEqual([
      {node: 'a', devices: [{id: '0:0', index: 0, name: 'pthread-cpu', memory: 4 * GiB}]},
    ])
  })
})

describe('a request that cannot be met', () => {
  const refusal = (devices: Parameters<typeof shortage>[0], request: Partial<GpuRequest>, free: number) =>
    shortage(devices, ask(request), devices.slice(0, free), 'rack lab')

  it('says how many are free and who has the rest, and offers to wait', () => {
    const error = refusal([device('a', 0), held('a', 1, {whole: true, memory: 16 * GiB, compute: 1})], {count: 2}, 1)
    expect(error).toMatchObject({
      code: 'GPU_UNAVAILABLE',
      exitCode: 7,
      helps: 'waiting',
      hint: '--wait',
      message: '2 whole GPUs are asked for, but only 1 is free',
    })
    expect(error.details.lines).toEqual([
      'a 0: pthread-cpu, 16.0 GiB of 16.0 GiB and 100 % of the time free',
      'a 1: pthread-cpu, nothing free; ana@laptop (attach train.py) has all of it',
    ])
  })
  it('says so where there are GPUs, but none of that API', () => {
    expect(shortage([], ask({api: 'cuda'}), [], 'rack lab', 'cuda')).toMatchObject({
      hint: 'flexrack gpu list',
      message: 'rack lab serves no GPU through CUDA',
    })
  })
  it('does not offer to wait for what the rack never has', () => {
    expect(refusal([device('a', 0)], {count: 2, memory: GiB}, 1)).toMatchObject({
      helps: 'nothing',
      hint: 'flexrack gpu list',
      message: '1.0 GiB on 2 GPUs are asked for, but rack lab has 1',
    })
    expect(refusal([device('a', 0)], {memory: 17 * GiB}, 0)).toMatchObject({
      hint: 'flexrack gpu list',
      message: '17.0 GiB on 1 GPU is asked for, but no GPU is that large',
    })
    expect(refusal([], {}, 0)).toMatchObject({hint: 'flexrack gpu serve', message: 'rack lab serves no GPU'})
  })
})
