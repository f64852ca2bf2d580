import {isRdmaUsable} from './judge-node.ts'
import type {CheckName} from './checks.ts'
import type {NodeMeasured, PreflightFinding} from './types.ts'

/** Seconds. Events of nodes are put in order by their clocks; tokens and certificates fail long after. */
const GOOD_CLOCK = 1
const WORST_CLOCK = 60
/** Ranks with different ones of these do not understand each other. */
const MUST_BE_ALIKE = /^(?:torch|nvidia-nccl-cu\d+|horovod|mpi4py)$/
const MOST_PACKAGES = 5

type Report = (
  check: CheckName,
  severity: PreflightFinding['severity'],
  message: string,
  fix?: string,
  node?: string,
) => void

/** What the nodes' measurements mean side by side. Pure. */
export function judgeTogether(nodes: NodeMeasured[], checks: readonly CheckName[]): PreflightFinding[] {
  const findings: PreflightFinding[] = []
  const report: Report = (check, severity, message, fix, node) => {
    if (checks.includes(check))
      findings.push({severity, check, message, ...(node !== undefined && {node}), ...(fix !== undefined && {fix})})
  }
  judgeClocks(nodes, report)
  if (nodes.length < 2) return findings
  judgeVersions(nodes, report)
  judgeLinks(nodes, report)
  return findings
}

/**
 * Against the median of the nodes, not against this machine: here it may be the laptop's clock that is wrong. A single
 * node is held against ours.
 */
function judgeClocks(nodes: NodeMeasured[], report: Report): void {
  const clocks = nodes.flatMap(({node, clock}) => (clock ? [{node, ...clock}] : []))
  const usual = clocks.length > 2 ? median(clocks.map((one) => one.ahead)) : 0
  for (const {node, ahead, within} of clocks.length === 2 ? later(clocks) : clocks) {
    const off = ahead - usual
    const sure = Math.abs(off) - within
    if (sure <= GOOD_CLOCK) continue
    const than = clocks.length > 1 ? 'the other nodes' : 'this machine'
    report(
      'clock',
      sure > WORST_CLOCK ? 'error' : 'warning',
      `${node}: its clock is ${Math.abs(off).toFixed(1)} s ${off > 0 ? 'ahead of' : 'behind'} ${than}`,
      `as root on ${node}: timedatectl set-ntp true`,
      node,
    )
  }
}

/**
 * Of two clocks that differ nobody knows which one is right: told is the one that is further from ours, by how far they
 * are apart.
 */
function later(clocks: {node: string; ahead: number; within: number}[]): typeof clocks {
  const [one, other] = clocks.toSorted((a, b) => Math.abs(b.ahead) - Math.abs(a.ahead)) as [
    (typeof clocks)[0],
    (typeof clocks)[0],
  ]
  return [{node: one.node, ahead: one.ahead - other.ahead, within: one.within + other.within}]
}

function judgeVersions(nodes: NodeMeasured[], report: Report): void {
  const drivers = groups(nodes, ({state}) => state?.gpus?.[0]?.driver)
  if (drivers.size > 1)
    report(
      'versions',
      'warning',
      `the nodes have different NVIDIA drivers: ${listOf(drivers)}`,
      'install one version everywhere; the CUDA of the environment must suit the oldest',
    )
  const pythons = groups(nodes, ({state}) => state?.versions?.python?.split('.').slice(0, 2).join('.'))
  if (pythons.size > 1)
    report(
      'versions',
      'warning',
      `the environments have different Pythons: ${listOf(pythons)}`,
      'packages and pickles may differ between ranks; install one version everywhere',
    )
  const mpis = groups(nodes, ({state}) => state?.versions?.mpi ?? undefined)
  if (mpis.size > 1) {
    // Within a series (4.1) daemons of different releases understand each other.
    const series = new Set([...mpis.keys()].map((version) => version.split('.').slice(0, 2).join('.')))
    report(
      'versions',
      series.size > 1 ? 'error' : 'warning',
      `the nodes have different versions of Open MPI: ${listOf(mpis)}`,
      'sudo apt-get install openmpi-bin   (of one release everywhere)',
    )
  }
  const names = new Set(nodes.flatMap(({state}) => Object.keys(state?.versions?.packages ?? {})))
  const known = nodes.filter(({state}) => state?.versions?.environment !== undefined)
  const differing = [...names].toSorted().flatMap((name) => {
    const found = groups(known, ({state}) => state?.versions?.packages[name] ?? 'none')
    return found.size > 1 ? [{name, found}] : []
  })
  for (const {name, found} of differing.filter((one) => MUST_BE_ALIKE.test(one.name))) {
    report(
      'versions',
      'error',
      `the nodes have different versions of ${name}: ${listOf(found)}`,
      `pin it in the requirements file (${name}==...), then run the command again`,
    )
  }
  const others = differing.filter((one) => !MUST_BE_ALIKE.test(one.name))
  if (others.length > 0) {
    const shown = others.slice(0, MOST_PACKAGES).map(({name, found}) => `${name} (${listOf(found)})`)
    report(
      'versions',
      'warning',
      `the nodes have different packages: ${shown.join('; ')}${others.length > MOST_PACKAGES ? `; and ${others.length - MOST_PACKAGES} more` : ''}`,
      'pin them in the requirements file, then run the command again',
    )
  }
  const environments = groups(nodes, ({state}) => state?.versions?.environment)
  if (environments.size > 1 && differing.length === 0 && pythons.size < 2) {
    report(
      'versions',
      'warning',
      `the nodes have different environments (another Python or C library under the same packages): ${listOf(environments)}`,
      'flexrack rack probe',
    )
  }
}

function judgeLinks(nodes: NodeMeasured[], report: Report): void {
  const measured = nodes.filter(({state}) => state?.rdma)
  const without = measured.filter(({state}) => !isRdmaUsable(state?.rdma))
  if (without.length > 0 && without.length < measured.length) {
    report(
      'rdma',
      'error',
      `${short(without.map((one) => one.node))} ${without.length === 1 ? 'has' : 'have'} no active RDMA port, the other nodes have: NCCL would choose differently on them`,
      'bring the ports up, leave those nodes out (--on), or set NCCL_IB_DISABLE: "1" in train.env',
    )
  }
  const rates = groups(measured, ({state}) =>
    state?.rdma
      ?.filter((one) => one.state === 'ACTIVE')
      .map((one) => one.rate)
      .toSorted()
      .at(-1),
  )
  if (rates.size > 1)
    report(
      'rdma',
      'warning',
      `the RDMA ports have different rates: ${listOf(rates)}`,
      'the slowest sets the pace; check cables and ports with ibstat',
    )
  const sizes = groups(nodes, (one) => one.interface?.mtu?.toString())
  if (sizes.size > 1)
    report(
      'reach',
      'warning',
      `the interfaces of the run have different MTUs: ${listOf(sizes)}`,
      'as root: ip link set dev NAME mtu SIZE, alike everywhere',
    )
}

/** Names of the nodes by what they have; those without are left out. */
function groups(nodes: NodeMeasured[], value: (node: NodeMeasured) => string | undefined): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const node of nodes) {
    const key = value(node)
    if (key !== undefined) found.set(key, [...(found.get(key) ?? []), node.node])
  }
  return found
}

/** The rarer first: they are what has to be changed. */
function listOf(found: Map<string, string[]>): string {
  return [...found]
    .toSorted((a, b) => a[1].length - b[1].length)
    .map(([value, nodes]) => `${value} on ${short(nodes)}`)
    .join(', ')
}

function short(nodes: string[]): string {
  return nodes.length > 4 ? `${nodes.slice(0, 3).join(', ')} and ${nodes.length - 3} more` : nodes.join(', ')
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number
}
