import {expect, test} from 'vitest'
import type {Release} from '../../../src/lib/endpoint/document.ts'
import {transitionPlan, without} from '../../../src/lib/endpoint/plan.ts'
import {placeReplicas, serverAddress, serverUrl, serviceId} from '../../../src/lib/endpoint/placement.ts'
import type {Rack, RackNode} from '../../../src/lib/rack/index.ts'

const nodes: RackNode[] = [
  {name: 'head', host: '10.0.0.1', root: '~/.flexrack', labels: {}},
  {name: 'gpu-1', host: '10.0.0.2', address: '192.168.0.2', root: '~/.flexrack', labels: {}},
  {name: 'gpu-2', host: '10.0.0.3', root: '~/.flexrack', labels: {}},
]
const rack: Rack = {name: 'lab', path: '/racks/lab.yaml', nodes, head: {node: 'head', bind: '127.0.0.1'}}
const replicas = placeReplicas('digits', 'r2', nodes.slice(0, 2), 3)
const release: Release = {
  id: 'r2',
  model: {name: 'digits', version: '5', files: []},
  runtime: 'onnx',
  state: 'starting',
  replicas,
  createdAt: '',
  by: '',
  kept: true,
}

test('replicas go round the nodes', () => {
  expect(replicas.map((one) => [one.node, one.service])).toEqual([
    ['head', 'endpoint-digits-r2-0'],
    ['gpu-1', 'endpoint-digits-r2-1'],
    ['head', 'endpoint-digits-r2-2'],
  ])
})

test('nothing is switched before every replica is ready, nothing stopped before the old one is drained', () => {
  const old = [{index: 0, node: 'head', service: serviceId('digits', 'r1', 0), url: 'http://127.0.0.1:1'}]
  const plan = transitionPlan({
    command: 'endpoint deploy',
    endpoint: 'digits',
    release,
    start: replicas,
    stop: old,
    headNode: 'head',
    fetch: true,
    asksModel: false,
  })
  const needs = (id: string): string[] | undefined => plan.steps.find((step) => step.id === id)?.needs
  expect(needs('start:endpoint-digits-r2-1')).toEqual(['environment:gpu-1', 'place:gpu-1'])
  expect(needs('switch')).toEqual([
    'ready:endpoint-digits-r2-0',
    'ready:endpoint-digits-r2-1',
    'ready:endpoint-digits-r2-2',
  ])
  expect(needs('drain')).toEqual(['switch'])
  expect(needs('stop:endpoint-digits-r1-0')).toEqual(['drain'])
  expect(plan.steps.filter((step) => step.kind === 'endpoint.place')).toHaveLength(2) // once a node
})

test('a server that leases says what, and the plan says why each node was taken or not', () => {
  const reasons = [{node: 'gpu-1', taken: true, why: '1 server: GPU0 of its own.'}]
  const plan = transitionPlan({
    command: 'endpoint deploy',
    endpoint: 'digits',
    release: {...release, gpus: {count: 1, memory: 4 * 2 ** 30, cap: false, remote: true}},
    start: replicas.slice(0, 1),
    prepare: replicas.slice(1, 2),
    stop: [],
    headNode: 'head',
    reasons,
    fetch: true,
    asksModel: false,
  })
  expect(plan.reasons).toEqual(reasons)
  const lease = 'leases 1 GPU with 4.0 GiB of its node or of another one while it runs'
  expect(plan.steps.flatMap(({title}) => (title.includes('leases') ? [title] : []))).toEqual([
    `Start model server endpoint-digits-r2-0, which ${lease}`,
    `Prepare model server endpoint-digits-r2-1, asleep, which ${lease}`,
  ])
})

test('fewer replicas start nothing and stop those that go', () => {
  const plan = transitionPlan({
    command: 'endpoint scale',
    endpoint: 'digits',
    release,
    start: [],
    stop: without(replicas, replicas.slice(0, 2)),
    headNode: 'head',
    fetch: false,
    asksModel: false,
  })
  expect(plan.steps.map((step) => step.id)).toEqual(['switch', 'drain', 'stop:endpoint-digits-r2-2'])
})

test('a server is called on loopback beside the head, else at the address of the rack file or by route', () => {
  expect(serverAddress(rack, nodes[0]!)).toBe('127.0.0.1')
  expect(serverAddress(rack, nodes[1]!)).toBe('192.168.0.2')
  expect(() => serverAddress(rack, nodes[2]!)).toThrow(/gpu-2 has no address at which the head/)
  expect(serverAddress(rack, nodes[2]!, '10.0.0.3')).toBe('10.0.0.3')
  expect(() => serverAddress(rack, nodes[2]!, '127.0.0.1')).toThrow(/gpu-2 has no address/)
  const local = nodes.map((node) => ({...node, host: '127.0.0.1', address: undefined}) as unknown as RackNode)
  expect(serverAddress({...rack, nodes: local}, local[2]!)).toBe('127.0.0.1')
})

test('an IPv6 address is bracketed in a URL', () => {
  expect(serverUrl('fd00::2', 18000, true)).toBe('https://[fd00::2]:18000')
})
