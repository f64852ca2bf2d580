import {CliError, isCliError, type ErrorCode} from '../base/index.ts'
import type {StepOutcome} from '../plan/index.ts'

/** What became of one node. */
export interface NodeReport<T> {
  node: string
  ok: boolean
  value?: T
  code?: ErrorCode
  message?: string
  hint?: string
}

/** One report a node, in the order of `names`, from what forEachNode gave. */
export function makeReports<T>(
  names: string[],
  {done, failed}: {done: Map<string, T>; failed: Map<string, Error>},
): NodeReport<T>[] {
  return names.map((node) => {
    const error = failed.get(node)
    if (!error) return {node, ok: true, value: done.get(node) as T}
    if (!isCliError(error)) return {node, ok: false, code: 'BUG', message: error.message}
    return {
      node,
      ok: false,
      code: error.code,
      message: error.message,
      ...(error.hint !== undefined && {hint: error.hint}),
    }
  })
}

/** What steps on nodes, at most one a node, have come to. */
export function reportsOf<T>(outcomes: StepOutcome[]): NodeReport<T>[] {
  const done = new Map<string, T>()
  const failed = new Map<string, Error>()
  for (const {step, status, value, error} of outcomes) {
    if (status === 'done') done.set(step.node as string, value as T)
    else failed.set(step.node as string, error ?? new CliError('INTERRUPTED', 'interrupted'))
  }
  return makeReports(
    outcomes.map((one) => one.step.node as string),
    {done, failed},
  )
}

/**
 * Throws if a node failed: its own error where it is the only node, the common code where all failed alike, else
 * SOME_NODES_FAILED. Details list every node, so that nothing that worked is lost under --json.
 */
export function throwIfAnyFailed<T>(reports: NodeReport<T>[]): void {
  const failed = reports.filter((report) => !report.ok)
  const [first] = failed
  if (!first) return
  const codes = new Set(failed.map((report) => report.code))
  const code = failed.length === reports.length && codes.size === 1 ? (first.code ?? 'BUG') : 'SOME_NODES_FAILED'
  const message =
    reports.length === 1
      ? (first.message ?? 'failed')
      : `${failed.length} of ${reports.length} nodes failed: ${failed.map((report) => report.node).join(', ')}`
  throw new CliError(code, message, {...(first.hint !== undefined && {hint: first.hint}), details: {nodes: reports}})
}
