import {describe, expect, it} from 'vitest'
import type {Manifest} from '../../../src/lib/manifest/index.ts'
import {judgeSlurm} from '../../../src/lib/project/check-slurm.ts'
import type {ClusterFact} from '../../../src/lib/protocol/index.ts'
import type {Rack} from '../../../src/lib/rack/index.ts'

const partition = {
  name: 'gpu',
  default: true,
  up: true,
  nodes: 4,
  most_nodes: null,
  seconds: null,
  cpus: 32,
  accounts: null,
}
const cluster = (parts: Partial<ClusterFact> = {}): ClusterFact => ({
  version: '22.05.8',
  partitions: [partition],
  accounts: null,
  pyxis: false,
  root: {path: '/home/me/.flexrack', kind: 'nfs4', shared: true},
  ...parts,
})
const rack = (slurm: Partial<NonNullable<Rack['slurm']>> = {}): Rack => ({
  name: 'lab',
  path: '/racks/lab.yaml',
  nodes: [{name: 'login', host: 'login', root: '~/.flexrack', labels: {}}],
  head: {node: 'login', bind: '127.0.0.1'},
  slurm: {login: 'login', extra: [], ...slurm},
})
const manifest = (train: Partial<NonNullable<Manifest['train']>> = {}): Manifest => ({
  path: '/p/flexrack.yaml',
  folder: '/p',
  name: 'digits',
  workspace: {exclude: [], forward: [], env: {}},
  tracking: {experiment: 'digits'},
  endpoints: {},
  train: {
    command: ['train.py'],
    launcher: 'torchrun',
    nodes: 2,
    processesPerNode: 4,
    restarts: 0,
    outputs: [],
    env: {},
    grace: 10,
    ...train,
  },
})
const judge = (
  parts: Partial<ClusterFact>,
  train: Parameters<typeof manifest>[0] = {},
  slurm: Parameters<typeof rack>[0] = {},
): string[] =>
  judgeSlurm(cluster(parts), rack(slurm), manifest(train)).map(({severity, message}) => `${severity} ${message}`)
const none = {exclusive: false, extra: []}

describe('what a cluster means for a run', () => {
  it('finds nothing where the partition has room', () => {
    expect(judge({})).toEqual([])
    expect(
      judge({partitions: [{...partition, most_nodes: 2, seconds: 7200, cpus: 4}]}, {slurm: {...none, time: '2:00:00'}}),
    ).toEqual([])
    expect(judgeSlurm(cluster(), rack(), undefined)).toEqual([])
  })

  it('names what a job in the partition cannot have', () => {
    const small = {...partition, most_nodes: 1, seconds: 5400, cpus: 2}
    expect(judge({partitions: [small]}, {slurm: {...none, time: '1-00:00:00'}})).toEqual([
      'error train.nodes is 2, and a job in partition gpu gets 1 at most',
      'error train.slurm.time is 1-00:00:00, and a job in partition gpu may take 1:30:00 at most',
      'error a node needs 4 CPUs for this run, and the largest of partition gpu has 2',
    ])
    expect(judge({partitions: [{...partition, up: false}]})).toEqual([
      'error partition gpu takes no jobs now (it is not up)',
    ])
    // Slurm takes the one that can have it.
    expect(
      judge({partitions: [small, {...partition, name: 'long'}]}, {slurm: {...none, partition: 'gpu,long'}}),
    ).toEqual([])
  })

  it('names a partition and an account that are not there, with the nearest, and what an account may not use', () => {
    expect(judge({}, {slurm: {...none, partition: 'gpus'}})).toEqual([
      'error Slurm has no partition gpus; did you mean gpu?',
    ])
    expect(judge({accounts: ['vision', 'speech']}, {}, {account: 'visoin'})).toEqual([
      'error Slurm has no account visoin for you; did you mean vision?',
    ])
    expect(judge({accounts: null}, {}, {account: 'any'})).toEqual([])
    expect(judge({partitions: [{...partition, accounts: ['speech']}]}, {slurm: {...none, account: 'vision'}})).toEqual([
      'error account vision may not use partition gpu',
    ])
    expect(judge({partitions: [{...partition, default: false}]})).toEqual([
      'error Slurm has no default partition, and none is named',
    ])
  })

  it('says where the folder is on a disk of the login node alone, and nothing where that cannot be told', () => {
    const root = {path: '/home/me/.flexrack', kind: 'ext4', shared: false}
    expect(judge({root})).toEqual([
      `error ${root.path} is on ext4, which is this machine's alone: the nodes of a job would not find the run there`,
    ])
    expect(judge({root: {...root, kind: 'fuse.strange', shared: null}})).toEqual([])
  })

  it('wants pyxis where the manifest has a container', () => {
    const slurm = {...none, container: {image: 'ubuntu', mounts: []}}
    expect(judge({}, {slurm})).toEqual(['error train.slurm.container needs pyxis, which this Slurm does not have'])
    expect(judge({pyxis: true}, {slurm})).toEqual([])
  })
})
