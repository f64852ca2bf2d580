import {expect, test} from 'vitest'
import type {Overview} from '../../../src/lib/overview/index.ts'
import {rackFacts} from '../../../src/lib/page/facts.ts'

const overview = (busy: number, all: number): Overview => ({
  rack: 'lab',
  nodes: [
    {
      node: 'a',
      host: '10.0.0.1',
      ok: true,
      gone: false,
      cores: 4,
      load: 1,
      ticks: {busy, all},
      memory: {available: 3, total: 10},
      disk: null,
      gpus: 2,
    },
    {
      node: 'b',
      host: 'b',
      ok: false,
      gone: false,
      cores: null,
      load: null,
      ticks: null,
      memory: null,
      disk: null,
      gpus: 0,
      message: 'gone',
    },
  ],
  head: {node: 'a', state: 'running', url: null},
  runs: [],
  endpoints: [],
  shared: {
    devices: [
      {
        node: 'a',
        index: 0,
        id: 'u',
        name: 'H100',
        vendor: '',
        driver: '',
        api: 'cuda',
        capability: '9.0',
        memory: 100,
        computeUnits: 1,
        free: {memory: 0, compute: 0},
        oversubscribed: null,
        whole: false,
        used: 30,
        utilisation: 0.5,
        holders: [
          {lease: 'l1', owner: 'alice@x', purpose: 'p', memory: 50, compute: 0.5, whole: false, longestLaunch: null},
          {lease: 'l2', owner: 'bob@y', purpose: '', memory: 50, compute: 0.5, whole: false, longestLaunch: null},
        ],
      },
    ],
    leases: [
      {
        node: 'a',
        lease: 'l1',
        state: 'held',
        owner: 'alice@x',
        purpose: 'p',
        created: 5,
        endsIn: null,
        holder: '10.0.0.9:4000',
        devices: [],
        programs: 1,
      },
      {
        node: 'a',
        lease: 'l2',
        state: 'held',
        owner: 'bob@y',
        purpose: '',
        created: 5,
        endsIn: null,
        holder: '10.0.0.1:4000',
        devices: [],
        programs: 1,
      },
    ],
    nodes: [],
  },
  reservations: [],
  unknown: [{part: 'runs', message: 'why'}],
})

test('a look says how busy processors were since the last one, who has which share, and from which machine', () => {
  const first = rackFacts(overview(100, 1000), undefined, 1)
  expect(first.nodes[0]).toMatchObject({busy: null, memory: {used: 7, total: 10}})
  expect(first.nodes[1]).toMatchObject({ok: false, message: 'gone'})
  const second = rackFacts(overview(150, 1100), overview(100, 1000), 2)
  expect(second.nodes[0]?.busy).toBe(0.5)
  expect(second.nodes[0]?.gpus[0]?.holders).toEqual([
    {owner: 'alice@x', purpose: 'p', lease: 'l1', share: 0.5, from: '10.0.0.9'},
    {owner: 'bob@y', purpose: '', lease: 'l2', share: 0.5, from: null},
  ])
  expect(rackFacts(overview(10, 100), overview(100, 1000), 3).nodes[0]?.busy, 'after a reboot').toBeNull()
  expect(second.unknown).toEqual(['runs: why'])
})
