import {describe, expect, it} from 'vitest'
import {gpuSmiText} from '../../../../src/cli/gpu/smi-text.ts'
import {gpuListText, leasesText, nodesText} from '../../../../src/cli/gpu/text.ts'
import type {GpuNodeReport, Lease} from '../../../../src/lib/gpu/index.ts'
import {device, GiB, held} from '../../gpu/devices.ts'

const node = (name: string, parts: Partial<GpuNodeReport> = {}): GpuNodeReport => ({
  node: name,
  state: 'running',
  version: '1',
  backend: 'opencl',
  address: '127.0.0.1',
  port: 18999,
  refused: {},
  ...parts,
})
const lease: Lease = {
  node: 'a',
  lease: '3f9a'.repeat(8),
  state: 'held',
  owner: 'ana@laptop',
  purpose: 'attach train.py',
  created: 0,
  endsIn: null,
  holder: 'unix',
  programs: 1,
  devices: [
    {
      index: 1,
      id: '0:1',
      name: 'pthread-cpu',
      memory: 4 * GiB,
      compute: 0.25,
      whole: false,
      cap: true,
      used: GiB,
      longestLaunch: null,
    },
  ],
}

describe('gpu list', () => {
  it('has a line for each device, with what is free and who has the rest', () => {
    const lines = gpuListText({nodes: [node('a')], devices: [device('a', 0), held('a', 1, {})]}).split('\n')
    expect(lines[0]).toMatch(/^NODE +GPU +NAME +API +VERSION +MEMORY +USED +FREE +TIME FREE +BUSY +HOLDERS$/)
    expect(lines[1]).toMatch(/^a +0 +pthread-cpu +opencl +3\.1 +16\.0 GiB +0 B +16\.0 GiB +100 % +0 % +nobody$/)
    expect(lines[2]).toMatch(
      /^a +1 +pthread-cpu +opencl +3\.1 +16\.0 GiB +0 B +12\.0 GiB +75 % +0 % +ana@laptop 4\.0 GiB$/,
    )
  })
  it('says which CUDA a device is', () => {
    expect(
      gpuListText({nodes: [node('a')], devices: [device('a', 0, {api: 'cuda', capability: '9.0', driver: '13.0'})]}),
    ).toContain('pthread-cpu  cuda 9.0  13.0')
  })
  it('names the nodes that share nothing, with what to do', () => {
    expect(
      nodesText([
        node('a'),
        node('b', {state: 'absent'}),
        node('c', {state: 'stopped'}),
        node('d', {state: 'failed', code: 'NODE_UNREACHABLE', message: 'd is away'}),
      ]),
    ).toBe(
      'd: NODE_UNREACHABLE d is away\nThe GPU daemon does not run on c. Start it with: flexrack gpu serve c\nb shares no GPU. To share: flexrack gpu serve b',
    )
  })
})

describe('gpu leases', () => {
  it('says who has which share', () => {
    expect(leasesText({leases: [lease], nodes: []}).split('\n')[1]).toMatch(
      /^3f9a3f9a +a +1 +4\.0 GiB, 25 % at most +1\.0 GiB +ana@laptop +attach train\.py +1 program +\d+ d ago$/,
    )
    expect(leasesText({leases: [{...lease, state: 'lost', endsIn: 12.3}], nodes: []})).toContain('lost, ends in 13 s')
    expect(leasesText({leases: [], nodes: []})).toBe('Nobody has a lease.')
  })
})

describe('gpu smi', () => {
  const report = {
    rack: 'lab',
    nodes: [node('a')],
    devices: [
      device('a', 0, {name: 'a very long name of a device '.repeat(6), used: 8 * GiB, utilisation: 0.5}),
      held('a', 1, {}),
    ],
    leases: [lease],
  }

  it.each([40, 60, 80, 200])('keeps every line inside a screen of %i columns (48 at least)', (width) => {
    const wide = Math.max(48, width)
    for (const line of gpuSmiText(report, width).split('\n')) expect([...line].length, line).toBeLessThanOrEqual(wide)
  })
  it('draws boxes with straight sides', () => {
    const lines = gpuSmiText(report, 80).split('\n').slice(2)
    expect(new Set(lines.map((line) => [...line].length))).toEqual(new Set([80]))
  })
  it('says whose memory is where on a device that has granted more than it has', () => {
    const beyond = {limit: 64 * GiB, granted: 24 * GiB, free: 9 * GiB, physical: 12 * GiB, swapped: 12 * GiB}
    const turns = {physical: 0, swapped: 12 * GiB, count: 3}
    const shared = {
      ...held('a', 0, {turns: {...turns, standing: 'out'}}, {turns: {...turns, standing: 'thrashes'}}),
      oversubscribed: {...beyond, isThrashing: true},
    }
    const text = gpuSmiText({...report, devices: [shared]}, 100)
    expect(text).toContain('24.0 GiB granted, 12.0 GiB on the GPU, 12.0 GiB in host memory, thrashing')
    expect(text).toContain('4.0 GiB, 25 %, swapped out')
    expect(text).toContain('THRASHES')
    expect(
      new Set(
        text
          .split('\n')
          .slice(2)
          .map((line) => [...line].length),
      ),
    ).toEqual(new Set([100]))
    expect(gpuListText({nodes: [], devices: [shared]})).toContain('(swapped out)')
  })
  it('says how long the longest kernel of a share was, in words of its size', () => {
    const times: [number | null, string][] = [
      [12.3, '12 s'],
      [1.25, '1.3 s'],
      [0.9996, '1.0 s'],
      [0.2, '200 ms'],
      [0.0012, '1.2 ms'],
      [0.00001, '10 µs'],
    ]
    for (const [longestLaunch, text] of times)
      expect(gpuSmiText({...report, devices: [held('a', 0, {longestLaunch})]}, 100)).toContain(
        `4.0 GiB, 25 %, longest kernel ${text} │`,
      )
    expect(gpuSmiText({...report, devices: [held('a', 0, {})]}, 100)).toContain('4.0 GiB, 25 % │')
  })
  it('says what a device is reached through, where there is room', () => {
    const sim = {
      ...report,
      nodes: [node('a', {backend: 'sim'})],
      devices: [device('a', 0, {api: 'cuda', capability: '7.5', driver: '13.0'})],
    }
    expect(gpuSmiText(sim, 80)).toMatch(/0 {2}pthread-cpu {2}capability 7\.5, CUDA 13\.0 +free/)
    expect(gpuSmiText(sim, 80)).toContain('in software, 127.0.0.1:18999')
    expect(gpuSmiText(report, 48)).not.toContain('driver 3.1\n')
  })
  it('shows what is in use, what is leased besides, and what is free', () => {
    expect(
      gpuSmiText({...report, devices: [held('a', 1, {memory: 8 * GiB})].map((one) => ({...one, used: 4 * GiB}))}, 80),
    ).toMatch(/memory █{10}▒{9,10}·+ 4\.0 GiB of 16\.0 GiB/)
  })
})
