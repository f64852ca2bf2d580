import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import type {RackNode} from '../../src/lib/rack/index.ts'
import {recordingFleet, type RecordingFleet} from './recording-fleet.ts'

const GPUS = 4
const TREE_REVISION = 'r0'

const environment = (node: string): {hash: string; path: string} => ({
  hash: '0123456789abcdef',
  path: `/home/${node}/environments/0123456789abcdef`,
})

/**
 * Nodes as a training plans for them and starts on them: each has four GPUs, no code yet, and an environment of its
 * own.
 */
export const trainingFleet = (): RecordingFleet => recordingFleet(trainingAnswers)

export const trainingAnswers: Parameters<typeof recordingFleet>[0] = {
  'workspace.inspect': (node, {environment: wanted}) => ({
    sync: {
      same: false,
      revision: TREE_REVISION,
      path: `/home/${node}/workspaces/proj/code`,
      inventory: [['gone.py', 'f', 'd'.repeat(32), false]],
      staged: [],
      last: null,
    },
    ...(wanted !== undefined && {environment: {...environment(node), ready: false, noted: false, python: '3.12'}}),
  }),
  'sync.apply': () => ({}),
  'environment.ensure': (node) => ({...environment(node), built: true, python: '3.12'}),
  'environment.resolve': () => ({pins: 'six==1.16.0\n'}),
  'node.facts': (node) => ({
    missing: {},
    clock: 0,
    cpu: {cores: 16, allowed: '0-15', numa_nodes: 1, load: 0},
    gpus: Array.from({length: GPUS}, (_, index) => ({
      index,
      uuid: `GPU-${node}-${index}`,
      name: 'A',
      memory: 2 ** 34,
      free: 2 ** 34,
    })),
  }),
  'reservation.list': (node) => ({shared: true, damaged: 0, identity: node, reservations: []}),
  'reservation.take': (node) => ({
    granted: true,
    fence: 7,
    since: 1,
    identity: node,
    shared: true,
    gpus: [],
    holders: [],
  }),
  'reservation.confirm': () => ({}),
  'reservation.release': () => ({}),
  'mpi.inspect': () => ({version: '4.1.4', series: '4.1'}),
  'run.route': (node) => ({
    machine: node,
    interfaces: [],
    outgoing: `10.0.0.${Number(node.slice(1)) + 1}`,
    source: `10.0.0.${Number(node.slice(1)) + 1}`,
  }),
  'run.start': (node, {run, index}) => ({run, node, index, gang: {address: '10.0.0.1', port: 4711}}),
  'slurm.inspect': () => ({
    version: '23',
    partitions: [{name: 'gpu', default: true, nodes: 4}],
    kill_wait: 30,
    accounting: false,
    pyxis: true,
    array: 1001,
  }),
  'slurm.submit': (node, {spec}) => ({run: (spec as {run: string}).run, node, index: 0}),
}

export function rackNodes(count: number): RackNode[] {
  return Array.from({length: count}, (_, index) => ({
    name: `n${index}`,
    host: `10.0.0.${index + 1}`,
    root: '~/.flexrack',
    labels: {},
  }))
}

/** As much of a tracking server as the start of a run asks for. */
export async function startTracking(): Promise<{
  uri: string
  requested: {path: string; body: unknown}[]
  stop(): Promise<void>
}> {
  const requested: {path: string; body: unknown}[] = []
  const answers: Record<string, object> = {
    'experiments/get-by-name': {experiment: {experiment_id: '1', name: 'proj', lifecycle_stage: 'active'}},
    'runs/create': {
      run: {
        info: {
          run_id: 'r1',
          experiment_id: '1',
          status: 'RUNNING',
          artifact_uri: 'mlflow-artifacts:/1/r1',
          lifecycle_stage: 'active',
        },
      },
    },
  }
  const server: Server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const path = (request.url ?? '').replace(/^.*\/mlflow\//, '').replace(/\?.*$/, '')
      requested.push({path, body: text === '' ? null : JSON.parse(text)})
      response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify(answers[path] ?? {}))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requested,
    async stop() {
      await new Promise<void>((resolve) => (server.close(() => resolve()), server.closeAllConnections()))
    },
  }
}
