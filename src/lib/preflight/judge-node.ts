import {count} from '../base/index.ts'
import type {GpuState, Limit, NodeState} from '../protocol/index.ts'
import type {CheckName} from './checks.ts'
import type {NodeMeasured, PreflightFinding} from './types.ts'

/** What the run will ask of each node. */
export interface Demand {
  /** Ranks a node. */
  processes: number
  /** Ranks are started by Open MPI. */
  mpi?: boolean
  /** UUIDs of the GPUs that it uses, by node; without it: all. */
  gpus?: ReadonlyMap<string, readonly string[]>
}

const MIB = 1024 ** 2
const GIB = 1024 ** 3
/**
 * Each rank has sockets to all others, files of its data, and pipes of its loaders; flexrack raises the soft limit of
 * ranks up to the hard one.
 */
const LEAST_FILES_OPEN = 1024
const GOOD_FILES_OPEN = 4096
/** Threads of PyTorch, NCCL, OpenMP and data loaders of one rank. */
const TASKS_A_RANK = 64
/** A container's default; loaders with worker processes pass their batches through it. */
const GOOD_SHARED = 128 * MIB
const LEAST_SHARED = 8 * MIB
const LEAST_DISK = 256 * MIB
const GOOD_DISK = 2 * GIB
const LEAST_FREE_FILES = 1000
const GOOD_FREE_FILES = 10_000
/**
 * RDMA pins what it sends: NVIDIA's guides ask for no limit; a distribution's default (8 MiB) is too little for one
 * queue pair of NCCL.
 */
const LEAST_LOCKED = 64 * MIB
const LEAST_PORTS = 256
const GOOD_PORTS = 4096
/** What a driver keeps of a GPU for itself, and a display server takes. */
const IDLE_GPU = 1 * GIB
const GOOD_GPU_SHARE = 0.5

type Report = (check: CheckName, severity: PreflightFinding['severity'], message: string, fix?: string) => void

/** What the measurements of one node mean for a run, as far as the chosen checks go. Pure. */
export function judgeNode(measured: NodeMeasured, checks: readonly CheckName[], demand: Demand): PreflightFinding[] {
  const {node, state} = measured
  const findings: PreflightFinding[] = []
  const report: Report = (check, severity, message, fix) => {
    if (checks.includes(check)) findings.push({severity, check, node, message, ...(fix !== undefined && {fix})})
  }
  if (measured.error !== undefined) {
    // What could not be looked at is no reason to believe that all is well.
    findings.push({
      severity: 'error',
      check: checks.includes('reach') ? 'reach' : (checks[0] ?? 'limits'),
      node,
      message: `${node}: it could not be measured: ${measured.error}`,
      fix: 'flexrack check',
    })
    return findings
  }
  if (measured.closed !== undefined)
    report(
      'ports',
      'error',
      `${node}: it cannot listen at ${measured.address}: ${measured.closed}`,
      `set address: of ${node} in the rack file to one of its own addresses (ip -brief addr)`,
    )
  if (!state) return findings
  judgeMemoryAndDisk(node, state, report)
  if (demand.mpi && state.versions?.mpi === null)
    report(
      'versions',
      'error',
      `${node}: there is no Open MPI (mpirun), and train.launcher is mpi`,
      `sudo apt-get install openmpi-bin   (on ${node})`,
    )
  judgeLimits(node, state, demand, report)
  judgeRdma(node, state, report)
  judgeGpus(node, state, demand, report)
  for (const {run, pids, command} of state.leftovers ?? []) {
    report(
      'leftovers',
      'warning',
      `${node}: ${pids.length === 1 ? `process ${pids[0]}` : `${pids.length} processes (${pids.slice(0, 3).join(', ')}${pids.length > 3 ? ', ...' : ''})`} of run ${run}, which is over: ${command || '?'}`,
      `flexrack check --fix --on ${node}`,
    )
  }
  return findings
}

function judgeMemoryAndDisk(node: string, {shm, disks, ports}: NodeState, report: Report): void {
  if (shm === null)
    report(
      'shm',
      'warning',
      `${node}: there is no /dev/shm`,
      'start the container with --shm-size=8g, or mount a tmpfs there',
    )
  else if (shm && shm.free < LEAST_SHARED)
    report(
      'shm',
      'error',
      `${node}: only ${size(shm.free)} of ${size(shm.total)} are free in /dev/shm`,
      'remove what lies there (ls -l /dev/shm), or start the container with a larger --shm-size',
    )
  else if (shm && shm.total < GOOD_SHARED)
    report(
      'shm',
      'warning',
      `${node}: /dev/shm has only ${size(shm.total)}; data loaders with worker processes may fail`,
      'start the container with --shm-size=8g, or as root: mount -o remount,size=8G /dev/shm',
    )
  for (const {path, free, files, free_files: freeFiles} of disks ?? []) {
    if (free < GOOD_DISK)
      report(
        'disk',
        free < LEAST_DISK ? 'error' : 'warning',
        `${node}: only ${size(free)} are free at ${path}`,
        `flexrack check --fix --on ${node}`,
      )
    if (files > 0 && freeFiles < GOOD_FREE_FILES)
      report(
        'disk',
        freeFiles < LEAST_FREE_FILES ? 'error' : 'warning',
        `${node}: only ${freeFiles} more files can be made at ${path}`,
        `remove files there; ssh to ${node}: du --inodes -x -d2 ${path} | sort -n | tail`,
      )
  }
  if (ports) {
    const left = ports.range[1] - ports.range[0] + 1 - ports.used
    if (left < GOOD_PORTS)
      report(
        'ports',
        left < LEAST_PORTS ? 'error' : 'warning',
        `${node}: only ${left} ports are left for connections (${ports.range.join('-')}, ${ports.used} in use)`,
        `as root on ${node}: sysctl -w net.ipv4.ip_local_port_range="32768 60999"`,
      )
  }
}

function judgeLimits(node: string, {limits, rdma}: NodeState, {processes}: Demand, report: Report): void {
  if (!limits) return
  const files = least(limits.open_files)
  if (files < GOOD_FILES_OPEN)
    report(
      'limits',
      files < LEAST_FILES_OPEN ? 'error' : 'warning',
      `${node}: a process may open only ${count(files, 'file')} (ulimit -Hn)`,
      `as root on ${node}, in /etc/security/limits.d/flexrack.conf:  * - nofile 65536`,
    )
  const needed = processes * TASKS_A_RANK
  const left = limits.tasks_left
  if (left !== null && left < 2 * needed)
    report(
      'limits',
      left < needed ? 'error' : 'warning',
      `${node}: only ${Math.max(0, left)} more processes and threads may be started, and ${count(processes, 'rank')} need about ${needed} (ulimit -u, or the container's limit)`,
      `as root on ${node}, in /etc/security/limits.d/flexrack.conf:  * - nproc 65536; or a larger --pids-limit of the container`,
    )
  const locked = least(limits.locked)
  if (isRdmaUsable(rdma) && !limits.may_lock && locked !== Infinity) {
    report(
      'limits',
      locked < LEAST_LOCKED ? 'error' : 'warning',
      `${node}: only ${size(locked)} of memory may be locked, and RDMA locks what it sends (ulimit -l)`,
      `as root on ${node}, in /etc/security/limits.d/flexrack.conf:  * - memlock unlimited; or --ulimit memlock=-1 for the container`,
    )
  }
}

/** Ranks get the hard limit (node/flexrack_node/rank/rank.py). */
function least([, hard]: Limit): number {
  return hard ?? Infinity
}

export function isRdmaUsable(rdma: NodeState['rdma']): boolean {
  return (rdma ?? []).some((one) => one.state === 'ACTIVE')
}

function judgeRdma(node: string, {rdma}: NodeState, report: Report): void {
  for (const one of rdma ?? []) {
    const name = `${one.device} port ${one.port}`
    // Linked, and nobody has given it an address in the fabric.
    if (one.state === 'INIT')
      report(
        'rdma',
        'warning',
        `${node}: ${name} is linked but not active: no subnet manager answers`,
        'as root on one node of the fabric: systemctl start opensm',
      )
    else if (one.state === 'ARMED')
      report('rdma', 'warning', `${node}: ${name} is armed and not yet active`, `ibstat ${one.device}   (on ${node})`)
  }
  if ((rdma ?? []).length > 0 && !isRdmaUsable(rdma))
    report(
      'rdma',
      'warning',
      `${node}: none of its RDMA ports is active (${(rdma ?? []).map((one) => `${one.device} ${one.state.toLowerCase()}, ${one.physical}`).join('; ')})`,
      `ibstat   (on ${node}); check cable and switch`,
    )
}

function judgeGpus(
  node: string,
  {gpus, versions, missing}: NodeState,
  {processes, gpus: mine}: Demand,
  report: Report,
): void {
  const chosen = mine?.get(node)
  const isUsed = usesGpus(versions?.packages)
  const worst = isUsed ? 'error' : 'warning'
  if (missing.gpus !== undefined)
    report('gpus', worst, `${node}: its GPUs do not answer: ${missing.gpus}`, `nvidia-smi   (on ${node})`)
  for (const gpu of gpus ?? []) {
    if (chosen && !chosen.includes(gpu.uuid)) continue // another run may use it as it likes
    if (gpu.total === null || gpu.free === null || (gpu.used ?? 0) <= IDLE_GPU) continue
    const share = gpu.free / gpu.total
    report(
      'gpus',
      share < GOOD_GPU_SHARE ? worst : 'warning',
      `${node}: GPU ${gpu.index} has only ${size(gpu.free)} of ${size(gpu.total)} free: ${holders(gpu)}`,
      `flexrack check --fix --on ${node}, if they are left from a run of yours`,
    )
  }
  if (!chosen && isUsed && gpus && gpus.length > 0 && processes > gpus.length)
    report(
      'gpus',
      'warning',
      `${node}: ${processes} ranks would share ${gpus.length === 1 ? 'one GPU' : `${gpus.length} GPUs`}, which NCCL refuses`,
      `flexrack train --processes-per-node ${gpus.length}`,
    )
}

/** Whether the project's PyTorch is one for NVIDIA GPUs. Without an environment nobody knows: taken as no. */
export function usesGpus(packages: Record<string, string> | undefined): boolean {
  return Object.keys(packages ?? {}).some((name) => name.startsWith('nvidia-')) || /\+cu\d/.test(packages?.torch ?? '')
}

function holders({processes, used}: GpuState): string {
  const named = processes
    .slice(0, 3)
    .map(
      ({pid, command, user, used: own}) =>
        `${command} (process ${pid}${user === null ? '' : ` of ${user}`}${own === null ? '' : `, ${size(own)}`})`,
    )
  if (named.length === 0)
    return `${size(used ?? 0)} are held by processes that cannot be seen from here (another container, or one that is ending)`
  return `held by ${named.join(', ')}${processes.length > 3 ? ` and ${processes.length - 3} more` : ''}`
}

function size(bytes: number): string {
  if (bytes > 0 && bytes < MIB) return `${Math.ceil(bytes / 1024)} KiB`
  return bytes >= GIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${Math.round(bytes / MIB)} MiB`
}
