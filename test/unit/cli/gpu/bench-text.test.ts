import {stripVTControlCharacters} from 'node:util'
import {describe, expect, it} from 'vitest'
import {gpuBenchText, micro, verdict} from '../../../../src/cli/gpu/bench-text.ts'
import {gpuFigures} from '../../../../src/lib/gpu/bench.ts'
import type {BenchedGpu} from '../../../../src/lib/gpu/index.ts'
import {GiB} from '../../gpu/devices.ts'

const answer = {
  device: 'pthread-cpu',
  bulk_bytes: 64 * 1024 ** 2,
  round_trip_us: 61.2,
  enqueue_us: 2.94,
  enqueue_finish_us: 118,
  write_4KiB_us: 0.6,
  read_4KiB_us: 70,
  write_64MiB_GBps: 2.7,
  read_64MiB_GBps: 1.2,
  compute_ms: 212,
  compute_share: 0.981,
  many_small_ms: 24,
}
const benched: BenchedGpu = {
  node: 'gpu1',
  name: 'pthread-cpu',
  memory: 16 * GiB,
  transport: 'tls',
  link: {way: 'address', roundTripUs: 53, toGBps: 2.9, fromGBps: 3},
  gpu: gpuFigures(answer),
}
const lines = (parts: Partial<BenchedGpu> = {}): string[] =>
  stripVTControlCharacters(gpuBenchText([{...benched, ...parts}])).split('\n')

describe('gpu bench', () => {
  it('has what the GPU does beside what the link does alone, and how much of it is reached', () => {
    expect(lines()).toEqual([
      'gpu1: pthread-cpu, 16.0 GiB, over TLS',
      'The link alone: TCP from here to the node, measured just before.',
      '',
      'WHAT                              MEASURED  THE LINK ALONE  REACHES',
      'round trip                           61 µs           53 µs',
      'kernel enqueue                      2.9 µs',
      'kernel enqueue and finish           118 µs           53 µs',
      'small kernel with new arguments      12 µs',
      '4 KiB to the GPU, blocking          0.6 µs',
      '4 KiB from the GPU, blocking         70 µs           53 µs',
      '64 MiB to the GPU                2.70 GB/s       2.90 GB/s  ███████████████████· 93 %',
      '64 MiB from the GPU              1.20 GB/s       3.00 GB/s  ████████············ 40 %',
      'kernels of a millisecond              98 %                  ████████████████████ 98 %',
      '',
      '64 MiB writes reach 93 % of what the link carries, reads 40 %.',
      'A round trip takes 8.2 µs more than the 53 µs of the link alone.',
      'A program of such kernels keeps the GPU busy 98 % of the time.',
    ])
  })

  it('says which way the data went', () => {
    expect(lines({link: {...benched.link!, way: 'tunnel'}}).slice(0, 2)).toEqual([
      'gpu1: pthread-cpu, 16.0 GiB, over TLS through SSH',
      'The link alone: TCP through the same SSH connection, measured just before.',
    ])
    expect(lines({transport: 'tcp', link: {...benched.link!, way: 'loopback'}}).slice(0, 2)).toEqual([
      'gpu1: pthread-cpu, 16.0 GiB, over TCP',
      'The link alone: TCP on this machine, measured just before.',
    ])
    expect(lines({transport: 'shm'})[0]).toBe('gpu1: pthread-cpu, 16.0 GiB, over shared memory')
  })

  it('compares shared memory with TCP, which it is not bound by', () => {
    const fast = {
      ...benched,
      transport: 'shm' as const,
      link: {way: 'loopback' as const, roundTripUs: 70, toGBps: 1.5, fromGBps: 1.5},
    }
    expect(verdict(fast).slice(0, 2)).toEqual([
      'Shared memory carries 64 MiB to the GPU 1.8 times, and from it 0.8 times, as fast as TCP would on this machine.',
      'A round trip takes 8.8 µs less than TCP alone.',
    ])
    expect(lines(fast).find((line) => line.startsWith('64 MiB to'))).toMatch(/█{20} 180 %$/)
  })

  it('leaves out what there is nothing to compare with', () => {
    const alone = lines({link: null})
    expect(alone[2]).toMatch(/^WHAT +MEASURED +REACHES$/)
    expect(alone.filter((line) => line.includes('link'))).toEqual([])
    expect(alone.at(-1)).toBe('A program of such kernels keeps the GPU busy 98 % of the time.')
  })

  it('names the size that was really copied', () => {
    expect(
      lines({gpu: gpuFigures({...answer, bulk_bytes: 34951168})}).some((line) =>
        line.startsWith('33.3 MiB to the GPU'),
      ),
    ).toBe(true)
  })

  it('has a part for each of several', () => {
    const text = stripVTControlCharacters(gpuBenchText([benched, {...benched, node: 'gpu2'}]))
    expect(text.match(/^gpu\d: /gm)).toEqual(['gpu1: ', 'gpu2: '])
  })

  it.each([
    [0.02, '0.0 µs'],
    [2.94, '2.9 µs'],
    [118.4, '118 µs'],
    [20_400, '20.4 ms'],
  ])('writes %s µs as %s', (value, text) => expect(micro(value)).toBe(text))
})
