import {CliError} from '../../lib/base/index.ts'
import type {BackendWish, Gpus} from '../../lib/gpu/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import type {RackNode} from '../../lib/rack/index.ts'

/**
 * Nodes of a local rack that is up keep what they share their GPUs through: programs may use them. Errors: CONFLICT
 * where `wish` is another kind.
 */
export async function keepBackend(gpus: Pick<Gpus, 'read'>, nodes: RackNode[], wish: BackendWish): Promise<void> {
  if (wish.backend === undefined) return
  const report = await gpus.read(nodes)
  const others = report.nodes.filter(
    (node) => node.state === 'running' && node.backend !== null && node.backend !== wish.backend,
  )
  const [first] = others
  if (!first) return
  throw new CliError(
    'CONFLICT',
    `${others.map(({node}) => node).join(', ')} of the local rack share${others.length === 1 ? 's' : ''} GPUs already, of the kind ${first.backend} and not ${wish.backend}`,
    {
      hint: `flexrack gpu serve --backend ${wish.backend} --rack local   (replaces them; programs that use them run on)`,
      details: {backends: Object.fromEntries(others.map(({node, backend}) => [node, backend]))},
    },
  )
}

/** The plan of `local up` for people, with what follows it. */
export function withServing(plan: Plan, wish: BackendWish): Plan {
  const serve = {
    id: 'gpu',
    node: null,
    kind: 'gpu.serve',
    title: 'Have its nodes share their GPUs (what gpu serve does)',
    input: {...wish},
    needs: plan.steps.slice(-1).map((step) => step.id),
  }
  return {...plan, steps: [...plan.steps, serve]}
}
