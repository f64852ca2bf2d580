import {isCliError, nearestName, type Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {ClusterFact} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Finding} from './findings.ts'

/**
 * Asks the login node's Slurm, and holds rack and manifest against it. A login node that cannot be reached is told with
 * the nodes.
 */
export async function checkSlurm(
  rack: Rack,
  manifest: Manifest | undefined,
  fleet: Fleet,
  ctx: Context,
): Promise<Finding[]> {
  const login = rack.nodes.find((node) => node.name === rack.slurm?.login)
  if (!rack.slurm || !login) return []
  try {
    const host = await openHost(fleet, login, ctx)
    return judgeSlurm(await host.call('slurm.check', {bin: rack.slurm.bin}, {signal: ctx.signal}), rack, manifest)
  } catch (error) {
    if (!isCliError(error) || error.code === 'INTERRUPTED' || error.code === 'BUG') throw error
    if (['AUTH_FAILED', 'HOST_KEY_UNKNOWN', 'HOST_KEY_CHANGED'].includes(error.code)) return []
    return [
      {
        severity: 'error',
        about: 'slurm',
        node: login.name,
        message: error.message,
        ...(error.hint !== undefined && {fix: error.hint}),
      },
    ]
  }
}

/** What the cluster's answer means for a run. Pure. */
export function judgeSlurm(cluster: ClusterFact, rack: Rack, manifest: Manifest | undefined): Finding[] {
  const findings: Finding[] = []
  const node = rack.slurm?.login as string
  const report = (severity: Finding['severity'], message: string, fix: string) =>
    findings.push({severity, about: 'slurm', node, message, fix})
  const {root} = cluster
  if (root.shared === false)
    report(
      'error',
      `${root.path} is on ${root.kind}, which is this machine's alone: the nodes of a job would not find the run there`,
      `set root: and environments: of ${node} in the rack file to a folder on a file system that all nodes share`,
    )
  const {train} = manifest ?? {}
  const wanted = train?.slurm
  const account = wanted?.account ?? rack.slurm?.account
  if (account !== undefined && cluster.accounts && !cluster.accounts.includes(account)) {
    const nearest = nearestName(account, cluster.accounts)
    report(
      'error',
      `Slurm has no account ${account} for you${nearest ? `; did you mean ${nearest}?` : ''}`,
      `one of: ${cluster.accounts.join(', ') || 'none'} (sacctmgr show associations)`,
    )
  }
  if (wanted?.container && !cluster.pyxis)
    report(
      'error',
      'train.slurm.container needs pyxis, which this Slurm does not have',
      'leave out train.slurm.container, or ask those who run the cluster for pyxis',
    )
  const names = (wanted?.partition ?? rack.slurm?.partition)?.split(',')
  const known = cluster.partitions.map((one) => one.name)
  for (const name of names ?? []) {
    if (known.includes(name)) continue
    const nearest = nearestName(name, known)
    report(
      'error',
      `Slurm has no partition ${name}${nearest ? `; did you mean ${nearest}?` : ''}`,
      `train: {slurm: {partition: ${nearest ?? known[0]}}}`,
    )
  }
  const chosen = cluster.partitions.filter((one) => (names ? names.includes(one.name) : one.default))
  if (!names && chosen.length === 0)
    report('error', 'Slurm has no default partition, and none is named', `train: {slurm: {partition: ${known[0]}}}`)
  if (!train) return findings
  // Where several are named Slurm takes the first that can have the job: one that suffices is enough.
  const troubles = chosen.map((one) => partitionTroubles(one, train, account))
  if (troubles.length > 0 && troubles.every((some) => some.length > 0))
    for (const [message, fix] of troubles.flat()) report('error', message, fix)
  return findings
}

function partitionTroubles(
  partition: ClusterFact['partitions'][number],
  train: NonNullable<Manifest['train']>,
  account: string | undefined,
): [message: string, fix: string][] {
  const {name} = partition
  const found: [string, string][] = []
  const most = Math.min(partition.nodes, partition.most_nodes ?? Infinity)
  if (!partition.up) found.push([`partition ${name} takes no jobs now (it is not up)`, 'sinfo'])
  if (train.nodes > most)
    found.push([
      `train.nodes is ${train.nodes}, and a job in partition ${name} gets ${most} at most`,
      `flexrack train --nodes ${most}`,
    ])
  const time = train.slurm?.time
  const seconds = time === undefined ? undefined : slurmSeconds(time)
  if (seconds !== undefined && partition.seconds !== null && seconds > partition.seconds)
    found.push([
      `train.slurm.time is ${time}, and a job in partition ${name} may take ${timeText(partition.seconds)} at most`,
      `train: {slurm: {time: ${timeText(partition.seconds)}}}`,
    ])
  const cpus = train.slurm?.cpus ?? train.processesPerNode
  if (partition.cpus !== null && cpus > partition.cpus)
    found.push([
      `a node needs ${cpus} CPUs for this run, and the largest of partition ${name} has ${partition.cpus}`,
      'lower train.processes_per_node or train.slurm.cpus',
    ])
  if (account !== undefined && partition.accounts && !partition.accounts.includes(account))
    found.push([`account ${account} may not use partition ${name}`, `one of: ${partition.accounts.join(', ')}`])
  return found
}

/**
 * Seconds of days-hours:minutes:seconds, with the parts after the hours left out or not; of hours:minutes:seconds
 * without days.
 */
function slurmSeconds(text: string): number {
  const [days, rest] = text.includes('-') ? (text.split('-') as [string, string]) : ['0', text]
  const [hours = 0, minutes = 0, seconds = 0] = rest.split(':').map(Number)
  return Number(days) * 86_400 + hours * 3600 + minutes * 60 + seconds
}

function timeText(seconds: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  return `${Math.floor(seconds / 3600)}:${two((seconds % 3600) / 60)}:${two(seconds % 60)}`
}
