import {CliError, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Step} from '../plan/index.ts'
import {chosenChecks, CHECKS, groupFindings, runPreflight, type PreflightResult} from '../preflight/index.ts'
import type {GangAddresses, PreflightChoice, RunSpec} from './types.ts'

/** The step that looks over the nodes before anything starts; none where every check is left out. Pure. */
export function preflightStep(spec: RunSpec, before: Step[], choice: PreflightChoice = {skip: [], force: false}): Step[] {
  const nodes = spec.placements.map((one) => one.node.name)
  const checks = chosenChecks(choice.skip, nodes.length)
  if (checks.length === 0) return []
  const alone = checks.filter((name) => !CHECKS[name].pairs)
  const pairs = checks.filter((name) => CHECKS[name].pairs)
  const parts = [...(alone.length > 0 ? [alone.join(', ')] : []), ...(pairs.length > 0 ? [`between the nodes: ${pairs.join(', ')}`] : [])]
  const input = {nodes, checks, skipped: choice.skip, force: choice.force}
  return [{id: 'preflight', node: null, kind: 'train.preflight', title: `Preflight: ${parts.join('; ')}${choice.force ? ' (--force: goes on in spite of errors)' : ''}`, input, needs: before.map((step) => step.id)}]
}

/** Runs it; with errors and without force: PREFLIGHT_FAILED with details {preflight}. Warnings, and errors that are forced, are told. */
export async function runPreflightStep(
  spec: Pick<RunSpec, 'placements' | 'processes' | 'project' | 'chosen' | 'launcher'>,
  hosts: Host[],
  addresses: GangAddresses | undefined,
  choice: PreflightChoice = {skip: [], force: false},
  context: Context,
): Promise<PreflightResult> {
  const nodes = spec.placements.map(({node}) => {
    const host = hosts.find((one) => one.node === node.name) as Host
    const address = addresses?.[node.name]?.address
    return {host, ...(address !== undefined && {address})}
  })
  const progress = context.reporter.begin(`Preflight of ${nodes.length === 1 ? '1 node' : `${nodes.length} nodes`}`)
  let result: PreflightResult
  try {
    const gpus = spec.chosen && new Map(spec.placements.map((one) => [one.node.name, (one.placed ?? []).flatMap((rank) => rank.gpus.map((gpu) => gpu.uuid))]))
    result = await runPreflight({nodes, skip: choice.skip, processes: spec.processes, project: spec.project, mpi: spec.launcher === 'mpi', ...(gpus && {gpus})}, context)
  } catch (error) {
    progress.fail()
    throw error
  }
  const errors = result.findings.filter((one) => one.severity === 'error')
  if (errors.length > 0 && !choice.force) {
    progress.fail()
    throw new CliError('PREFLIGHT_FAILED', `the preflight found ${errors.length === 1 ? '1 error' : `${errors.length} errors`}; nothing was started (--force goes on in spite of them)`, {
      hint: `--skip ${[...new Set([...choice.skip, ...errors.map((one) => one.check)])].join(',')}`,
      details: {preflight: result},
    })
  }
  progress.done()
  for (const {message, severity} of groupFindings(result.findings)) context.reporter.warn(severity === 'error' ? `${message} (going on: --force)` : message)
  return result
}
