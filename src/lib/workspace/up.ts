import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import {executePlan, throwIfFailed, valuesOf, type StepOutcome} from '../plan/index.ts'
import {planWorkspace, type Workspace, type WorkspaceOptions, type WorkspacePlan} from './plan.ts'
import {WORKSPACE_HANDLERS} from './handlers.ts'
import type {WorkspaceKinds} from './steps.ts'

export interface UpOptions extends WorkspaceOptions {
  /** Made before. */
  prepared?: WorkspacePlan
  /** Nodes that are meant and could not be had. */
  unreached?: ReadonlyMap<string, Error>
  /** Names of all nodes that are meant, in the order in which errors tell of them. */
  nodes?: string[]
}

/**
 * Makes the nodes look like the project: code, and the Python environment. Idempotent; nothing to do costs one call a
 * node. Errors: those of planWorkspace, syncCode and ensureEnvironment; SOME_NODES_FAILED where others did well; the
 * rest of the nodes is done in any case.
 */
export async function upWorkspace(
  hosts: Host[],
  manifest: Manifest,
  context: Context,
  options: UpOptions = {},
): Promise<Map<string, Workspace>> {
  const {plan, workspaces, failed, files} = options.prepared ?? (await planWorkspace(hosts, manifest, context, options))
  const host = (node: string): Host => hosts.find((one) => one.node === node) as Host
  const outcomes = await executePlan(plan, WORKSPACE_HANDLERS, {host, files, context}, context)
  const bad = new Map([...(options.unreached ?? []), ...failed])
  const looked = (options.nodes ?? [...bad.keys(), ...workspaces.keys()]).map((node): StepOutcome => {
    const error = bad.get(node)
    return {
      step: {id: `look:${node}`, node, kind: 'look', title: 'Look at the node', input: {}, needs: []},
      status: error ? 'failed' : 'done',
      ...(error && {error}),
    }
  })
  throwIfFailed([...looked, ...outcomes])
  return afterwards(workspaces, outcomes)
}

/** The workspaces, with what the steps have brought about. Pure. */
function afterwards(
  workspaces: ReadonlyMap<string, Workspace>,
  outcomes: readonly StepOutcome[],
): Map<string, Workspace> {
  const synced = valuesOf<WorkspaceKinds, 'workspace.sync'>(outcomes, 'workspace.sync')
  const built = valuesOf<WorkspaceKinds, 'workspace.environment'>(outcomes, 'workspace.environment')
  return new Map(
    [...workspaces].map(([node, one]) => {
      const sync = synced.find((each) => each.node === node)
      const {node: _, ...environment} = built.find((each) => each.node === node) ?? {node, ...one.environment}
      return [
        node,
        {
          ...one,
          ...(sync && {synced: sync}),
          ...(one.environment && {environment: {...one.environment, ...environment}}),
        },
      ]
    }),
  )
}
