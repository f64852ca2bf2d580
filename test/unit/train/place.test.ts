import {describe, expect, it} from 'vitest'
import type {Manifest} from '../../../src/lib/manifest/index.ts'
import type {Rack, RackNode} from '../../../src/lib/rack/index.ts'
import {placeRun, rangeOf, wantsOn} from '../../../src/lib/train/place.ts'
import type {Placement} from '../../../src/lib/train/types.ts'

const node = (name: string, labels: Record<string, string> = {}): RackNode => ({
  name,
  host: name,
  root: '~/.flexrack',
  labels,
})
const rack: Rack = {
  name: 'lab',
  path: '/racks/lab.yaml',
  nodes: [node('a'), node('b', {gpu: 'yes'}), node('c', {gpu: 'yes'})],
  head: {node: 'a', bind: '127.0.0.1'},
}
const manifest = (train: Partial<NonNullable<Manifest['train']>> | null = {}): Manifest => ({
  path: '/p/flexrack.yaml',
  folder: '/p',
  name: 'digits',
  workspace: {exclude: [], forward: [], env: {A: '1', B: '1'}},
  ...(train && {
    train: {
      command: ['train.py', '--epochs', '5'],
      launcher: 'torchrun',
      nodes: 2,
      processesPerNode: 2,
      restarts: 1,
      outputs: [],
      env: {B: '2'},
      grace: 10,
      ...train,
    },
  }),
  tracking: {experiment: 'digits'},
  endpoints: {},
})
const choice = {args: [], tracking: true}

describe('how many nodes', () => {
  const size = (train: Parameters<typeof manifest>[0], more = {}) => {
    const {placements, worldSize, size, among} = placeRun(manifest(train), rack, {...choice, ...more})
    return {ranks: placements.map((one) => one.ranks), worldSize, size, among: among?.length}
  }

  it('is a number, and nothing is said of a size then', () => {
    expect(size({})).toEqual({
      ranks: [
        [0, 1],
        [2, 3],
      ],
      worldSize: 4,
      size: undefined,
      among: undefined,
    })
  })

  it('keeps spares beside it, which have no ranks', () => {
    expect(size({spares: 1})).toEqual({
      ranks: [[0, 1], [2, 3], []],
      worldSize: 4,
      size: {min: 2, max: 2, spares: 1},
      among: undefined,
    })
    expect(size({}, {on: 'gpu=yes', spares: 1})).toMatchObject({ranks: [[0, 1], []], worldSize: 2})
    expect(() => size({spares: 2})).toThrow('4 nodes are asked for, 2 of them as spares, and rack lab has 3')
    expect(() => size({}, {on: 'gpu=yes', spares: 2})).toThrow(
      '--on gpu=yes means 2 nodes, and 2 of them are to be spares',
    )
  })

  it('may be a range: as many as the rack has, chosen by what is free', () => {
    expect(size({nodes: 8, minNodes: 2})).toEqual({
      ranks: [
        [0, 1],
        [2, 3],
        [4, 5],
      ],
      worldSize: 6,
      size: {min: 2, max: 8, spares: 0},
      among: 3,
    })
    expect(size({}, {nodes: '1..2', spares: 1})).toMatchObject({
      ranks: [[0, 1], [2, 3], []],
      size: {min: 1, max: 2, spares: 1},
    })
    expect(() => size({nodes: 8, minNodes: 4})).toThrow('4 nodes are asked for at least, and rack lab has 3')
    expect(() => size({}, {nodes: '3..2'})).toThrow('a number, or a range such as 2..8, not 3..2')
    expect(() => size({}, {nodes: 0})).toThrow('1 to 1024 nodes')
  })
})

describe('placeRun', () => {
  it('fills the nodes in the order of the rack file', () => {
    const spec = placeRun(manifest(), rack, choice, 'k3x9a')
    expect(spec.placements.map((one) => [one.node.name, one.index, one.ranks])).toEqual([
      ['a', 0, [0, 1]],
      ['b', 1, [2, 3]],
    ])
    expect(spec).toMatchObject({run: 'digits-k3x9a', worldSize: 4, env: {A: '1', B: '2'}})
  })

  it('lets the command line say how many, where, and with which arguments', () => {
    const spec = placeRun(
      manifest(),
      rack,
      {...choice, on: 'gpu=yes', processesPerNode: 1, args: ['--fast'], name: 'try'},
      'k3x9a',
    )
    expect(spec.placements.map((one) => one.node.name)).toEqual(['b', 'c'])
    expect(spec).toMatchObject({run: 'try-k3x9a', command: ['train.py', '--epochs', '5', '--fast'], worldSize: 2})
    expect(
      placeRun(manifest(), rack, {...choice, on: 'gpu=yes', nodes: 1}).placements.map((one) => one.node.name),
    ).toEqual(['b'])
  })

  it('refuses the script itself among its arguments, and says how it is meant', () => {
    expect(() => placeRun(manifest(), rack, {...choice, args: ['train.py', '--fast']}, 'k3x9a')).toThrow(
      expect.objectContaining({code: 'USAGE', hint: 'flexrack train -- --fast'}),
    )
  })

  it('gives every run another id', () => {
    expect(new Set(Array.from({length: 50}, () => placeRun(manifest(), rack, choice).run)).size).toBe(50)
  })

  it('leaves out nodes, and knows those that would do instead, and those that GPUs are chosen from', () => {
    expect(
      placeRun(manifest(), rack, {...choice, exclude: 'b', nodes: 2}).placements.map((one) => one.node.name),
    ).toEqual(['a', 'c'])
    expect(placeRun(manifest(), rack, {...choice, nodes: 1})).toMatchObject({instead: [{name: 'b'}, {name: 'c'}]})
    expect(placeRun(manifest(), rack, choice)).not.toHaveProperty('among')
    const spec = placeRun(manifest({gpus: 2}), rack, {...choice, exclude: 'a', nodes: 1})
    expect(spec).toMatchObject({gpus: 2, among: [{name: 'b'}, {name: 'c'}], wants: {gpus: [], slots: 2}})
    expect(placeRun(manifest({gpus: 2}), rack, {...choice, gpus: 0}).gpus).toBe(0)
    expect(() => placeRun(manifest(), rack, {...choice, exclude: 'b,c', nodes: 2})).toThrow(
      '2 nodes are asked for, and lab under --exclude b,c has 1',
    )
    expect(() => placeRun(manifest(), rack, {...choice, on: 'b', exclude: 'all'})).toThrow(
      '--exclude all leaves no node',
    )
    expect(() => placeRun(manifest({gpus: 1}), rack, {...choice, shareGpus: true})).toThrow('do not go together')
  })

  it('reserves on each node the GPUs that its ranks got', () => {
    const spec = placeRun(manifest({gpus: 1}), rack, choice)
    const rank = {rank: 0, local: 0, numa: [], cpus: null, memory: [], nic: null}
    const placed = [
      {...rank, gpus: [{index: 3, uuid: 'GPU-d'}]},
      {...rank, gpus: [{index: 1, uuid: 'GPU-b'}]},
    ]
    expect(wantsOn(spec, {...(spec.placements[0] as Placement), placed})).toEqual({
      gpus: ['GPU-d', 'GPU-b'],
      slots: 2,
      exclusive: false,
    })
    expect(wantsOn(placeRun(manifest(), rack, choice), spec.placements[0] as Placement).gpus).toBe('all')
  })

  it('says what is missing', () => {
    expect(() => placeRun(manifest(), rack, {...choice, nodes: 4})).toThrow('4 nodes are asked for, and rack lab has 3')
    expect(() => placeRun(manifest(null), rack, choice)).toThrow('has no `train:` part')
    expect(() => placeRun(manifest({launcher: 'plain'}), rack, choice)).toThrow('one process a node')
    expect(() => placeRun(manifest(), rack, {...choice, on: 'nowhere'})).toThrow()
  })
})

describe('rangeOf', () => {
  it('is short', () => {
    expect([rangeOf([3]), rangeOf([4, 5, 6])]).toEqual(['3', '4-6'])
  })
})
