import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import {executePlan, throwIfFailed, type StepOutcome} from '../plan/index.ts'
import {planWorkspace, type Workspace, type WorkspaceOptions, type WorkspacePlan} from './plan.ts'

/**
 * Makes the nodes look like the project: code, and the Python environment. Idempotent; nothing to do costs one call a node.
 * `prepared` is a plan made before. Errors: those of planWorkspace, syncCode and ensureEnvironment; SOME_NODES_FAILED where
 * others did well; the rest of the nodes is done in any case.
 */
export async function upWorkspace(
  hosts: Host[],
  manifest: Manifest,
  context: Context,
  options: WorkspaceOptions & {prepared?: WorkspacePlan} = {},
): Promise<Map<string, Workspace>> {
  const {plan, handlers, workspaces, failed} = options.prepared ?? (await planWorkspace(hosts, manifest, context, options))
  const outcomes = await executePlan(plan, handlers, context)
  const looked = [...failed].map(([node, error]): StepOutcome => ({step: {id: `look:${node}`, node, kind: 'look', title: 'Look at the node', input: {}, needs: []}, status: 'failed', error}))
  const quiet = [...workspaces.keys()].map((node): StepOutcome => ({step: {id: `look:${node}`, node, kind: 'look', title: 'Look at the node', input: {}, needs: []}, status: 'done'}))
  throwIfFailed([...looked, ...quiet, ...outcomes])
  return workspaces
}
