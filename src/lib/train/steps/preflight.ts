import {CliError, type Context} from '../../base/index.ts'
import type {Host} from '../../host/index.ts'
import {fromStep} from '../../plan/index.ts'
import {chosenChecks, CHECKS, groupFindings, runPreflight, type PreflightResult} from '../../preflight/index.ts'
import type {GangAddresses, PreflightChoice, RunSpec} from '../types.ts'
import type {Done, PreflightInput, TrainEnv, TrainStep} from './types.ts'

/** The step that looks over the nodes before anything starts; none where every check is left out. Pure. */
export function preflightSteps(spec: RunSpec, choice: PreflightChoice = {skip: [], force: false}): TrainStep[] {
  const nodes = spec.placements.map((one) => one.node.name)
  const checks = chosenChecks(choice.skip, nodes.length)
  if (checks.length === 0) return []
  const alone = checks.filter((name) => !CHECKS[name].pairs)
  const pairs = checks.filter((name) => CHECKS[name].pairs)
  const parts = [
    ...(alone.length > 0 ? [alone.join(', ')] : []),
    ...(pairs.length > 0 ? [`between the nodes: ${pairs.join(', ')}`] : []),
  ]
  const input: PreflightInput = {
    nodes,
    checks,
    skipped: choice.skip,
    force: choice.force,
    processes: spec.processes,
    project: spec.project,
    mpi: spec.launcher === 'mpi',
    gpus: spec.chosen
      ? Object.fromEntries(
          spec.placements.map((one) => [
            one.node.name,
            (one.placed ?? []).flatMap((rank) => rank.gpus.map((gpu) => gpu.uuid)),
          ]),
        )
      : null,
    addresses: nodes.length > 1 ? fromStep('route') : null,
  }
  return [
    {
      id: 'preflight',
      node: null,
      kind: 'train.preflight',
      title: `Preflight: ${parts.join('; ')}${choice.force ? ' (--force: goes on in spite of errors)' : ''}`,
      input,
      needs: [],
    },
  ]
}

export async function preflight(
  input: PreflightInput,
  done: Done,
  {host, context}: TrainEnv,
): Promise<PreflightResult> {
  const hosts = await Promise.all(input.nodes.map(host))
  return lookOver(input, hosts, input.addresses ? done.of('train.route', input.addresses) : undefined, context)
}

/**
 * With errors and without force: PREFLIGHT_FAILED with details {preflight}. Warnings, and errors that are forced, are
 * told.
 */
export async function lookOver(
  {
    skipped,
    force,
    processes,
    project,
    mpi,
    gpus,
  }: Pick<PreflightInput, 'skipped' | 'force' | 'processes' | 'project' | 'mpi' | 'gpus'>,
  hosts: Host[],
  addresses: GangAddresses | undefined,
  context: Context,
): Promise<PreflightResult> {
  const nodes = hosts.map((host) => {
    const address = addresses?.[host.node]?.address
    return {host, ...(address !== undefined && {address})}
  })
  const progress = context.reporter.begin(`Preflight of ${nodes.length === 1 ? '1 node' : `${nodes.length} nodes`}`)
  let result: PreflightResult
  try {
    result = await runPreflight(
      {nodes, skip: skipped, processes, project, mpi, ...(gpus && {gpus: new Map(Object.entries(gpus))})},
      context,
    )
  } catch (error) {
    progress.fail()
    throw error
  }
  const errors = result.findings.filter((one) => one.severity === 'error')
  if (errors.length > 0 && !force) {
    progress.fail()
    const found = errors.length === 1 ? '1 error' : `${errors.length} errors`
    throw new CliError(
      'PREFLIGHT_FAILED',
      `the preflight found ${found}; nothing was started (--force goes on in spite of them)`,
      {
        hint: `--skip ${[...new Set([...skipped, ...errors.map((one) => one.check)])].join(',')}`,
        details: {preflight: result},
      },
    )
  }
  progress.done()
  for (const {message, severity} of groupFindings(result.findings))
    context.reporter.warn(severity === 'error' ? `${message} (going on: --force)` : message)
  return result
}
