import type {Context} from '../../lib/base/index.ts'
import type {Host} from '../../lib/host/index.ts'
import type {StepOutcome} from '../../lib/plan/index.ts'
import type {RackNode} from '../../lib/rack/index.ts'
import type {Fleet} from '../../lib/ssh/index.ts'

/** Nodes with the node program in place, and those that could not be had. */
export interface OpenedHosts {
  hosts: Host[]
  failed: Map<string, Error>
}

/** Opens every node at once; one that cannot be reached does not stop the others. */
export async function openHosts(fleet: Fleet, nodes: RackNode[], context: Context): Promise<OpenedHosts> {
  const [{openHost}, {forEachNode}] = await Promise.all([
    import('../../lib/host/index.ts'),
    import('../../lib/ssh/index.ts'),
  ])
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const {done, failed} = await forEachNode(fleet, [...byName.keys()], (_shell, name) =>
    openHost(fleet, byName.get(name) as RackNode, context),
  )
  return {hosts: [...done.values()], failed}
}

/**
 * Throws for nodes that failed: the error of the only node, or SOME_NODES_FAILED with every node, in the order of
 * `nodes` (all that were asked for). `outcomes` are the steps done on the others.
 */
export async function throwIfNodesFailed(
  nodes: readonly {name: string}[],
  failed: ReadonlyMap<string, Error>,
  outcomes: readonly StepOutcome[] = [],
): Promise<void> {
  const {throwIfFailed} = await import('../../lib/plan/index.ts')
  const reached = nodes.map(({name}): StepOutcome => {
    const error = failed.get(name)
    return {
      step: {id: `reach:${name}`, node: name, kind: 'reach', title: `Reach ${name}`, input: {}, needs: []},
      status: error ? 'failed' : 'done',
      ...(error && {error}),
    }
  })
  throwIfFailed([...reached, ...outcomes])
}
