import {count, type Context} from '../base/index.ts'
import type {Manifest} from '../manifest/index.ts'
import {probeNodes, type NodeReport, type Probe} from '../nodes/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Finding} from './findings.ts'

const GIB = 1024 ** 3
/** An environment with PyTorch for CPU takes about 1.5 GiB while it is built. */
const LEAST_DISK = GIB
const GOOD_DISK = 5 * GIB
const LEAST_FILES = 10_000
/** A container's default; loaders with worker processes pass their batches through it. */
const LEAST_SHARED = 128 * 1024 ** 2
/** Seconds: run tokens and the order of events depend on clocks. */
const WORST_CLOCK = 60
const GOOD_CLOCK = 5

export interface CheckNodesInput {
  nodes: RackNode[]
  manifest?: Manifest
  /** Ports that must be free, by name of the node. */
  ports: Record<string, [address: string, port: number][]>
  /** A preflight follows: what it measures better (room, shared memory, clocks) is left to it. */
  measuredTwice?: boolean
}

/** Connects to every node and measures it; what would stop a run there is found. */
export async function checkNodes(
  {nodes, manifest, ports, measuredTwice = false}: CheckNodesInput,
  fleet: Fleet,
  ctx: Context,
): Promise<{findings: Finding[]; reached: RackNode[]}> {
  const peers = (manifest?.train?.nodes ?? 1) > 1 ? nodes.filter((node) => node.address !== undefined).slice(0, 16) : []
  const reports = await probeNodes(nodes, fleet, ctx, {peers, ports})
  const reached = nodes.filter((node) => reports.some((one) => one.node === node.name && one.ok))
  return {
    findings: [
      ...reports.flatMap((report) => judgeNode(report, manifest, measuredTwice)),
      ...(manifest?.workspace.pythonVersion === undefined ? judgeTogether(reports) : []),
    ],
    reached,
  }
}

/** What one node's report means for a run. Pure. */
export function judgeNode(
  {node, value, message, hint}: NodeReport<Probe>,
  manifest: Manifest | undefined,
  measuredTwice = false,
): Finding[] {
  if (!value)
    return [
      {severity: 'error', about: 'node', node, message: message ?? 'failed', ...(hint !== undefined && {fix: hint})},
    ]
  const {facts, clock} = value
  const findings: Finding[] = []
  const report = (severity: Finding['severity'], text: string, fix: string) =>
    findings.push({severity, about: 'node', node, message: text, fix})
  if (facts.python && !facts.python.venv)
    report(
      'warning',
      `Python ${facts.python.version} there has no venv: only uv can make environments`,
      'sudo apt-get install python3-venv   (on the node)',
    )
  if (facts.disk) {
    const {free, path, writable, free_files} = facts.disk
    if (!writable)
      report('error', `${path} may not be written to`, `set root: for ${node} in the rack file to a folder that may`)
    if (free < LEAST_DISK)
      report(
        'error',
        `only ${(free / GIB).toFixed(1)} GiB are free at ${path}`,
        `flexrack rack uninstall --on ${node}, or set root: in the rack file to a larger disk`,
      )
    else if (free < GOOD_DISK)
      report(
        'warning',
        `only ${(free / GIB).toFixed(1)} GiB are free at ${path}`,
        'an environment with PyTorch for GPUs needs about 6 GiB',
      )
    if (!measuredTwice && free_files > 0 && free_files < LEAST_FILES)
      report('error', `only ${free_files} more files can be made at ${path}`, 'remove files there (df -i)')
  }
  const skew = Math.abs(clock.ahead) - clock.within
  if (!measuredTwice && skew > GOOD_CLOCK)
    report(
      skew > WORST_CLOCK ? 'error' : 'warning',
      `its clock is ${skew.toFixed(0)} s ${clock.ahead > 0 ? 'ahead' : 'behind'}`,
      'sudo timedatectl set-ntp true   (on the node)',
    )
  for (const [peer, route] of Object.entries(facts.routes ?? {})) {
    if (route.error)
      report(
        'error',
        `it has no way to ${peer}: ${route.error}`,
        `set address: for ${peer} in the rack file to one that ${node} can reach`,
      )
  }
  for (const port of facts.taken_ports ?? [])
    report(
      'error',
      `its port ${port} is taken, but the head is to listen there`,
      'change head.port in the rack file, or leave it out',
    )
  const train = manifest?.train
  const cores = facts.cpu?.quota ?? facts.cpu?.cores
  if (train && cores !== undefined && train.processesPerNode > cores)
    report(
      'warning',
      `${count(train.processesPerNode, 'process', 'processes')} will share ${count(cores, 'core')}`,
      'lower train.processes_per_node',
    )
  if (!measuredTwice && train && facts.memory?.shared !== undefined && facts.memory.shared < LEAST_SHARED)
    report(
      'warning',
      `/dev/shm has only ${Math.round(facts.memory.shared / 1024 ** 2)} MiB`,
      'data loaders with workers may fail; start the container with a larger --shm-size',
    )
  return findings
}

/** What the nodes' reports mean side by side. Pure. */
export function judgeTogether(reports: NodeReport<Probe>[]): Finding[] {
  const versions = new Map<string, string[]>()
  for (const {node, value} of reports) {
    const version = value?.facts.python?.version.split('.').slice(0, 2).join('.')
    if (version) versions.set(version, [...(versions.get(version) ?? []), node])
  }
  if (versions.size < 2) return []
  const list = [...versions].map(([version, nodes]) => `${version} on ${nodes.join(', ')}`).join('; ')
  return [
    {
      severity: 'warning',
      about: 'node',
      message: `the nodes have different Pythons: ${list}`,
      fix: 'packages and pickles may differ between ranks; name one: workspace: {python: {version: "3.12"}}',
    },
  ]
}
