import type {PageNotebook, PageSweep} from '../head/index.ts'
import type {Notebook} from '../notebook/index.ts'
import type {Sweep} from '../sweep/index.ts'

/** What the page shows of a notebook. Pure. */
export function notebookFacts({project, node, state, kernels, endsAt, endsWhy, ended}: Notebook): PageNotebook {
  const active = kernels.map((one) => Date.parse(one.activeAt))
  const isBusy = kernels.some((one) => one.state === 'busy')
  return {
    name: project,
    node,
    state,
    kernels: kernels.length,
    idleSince: isBusy || active.length === 0 ? null : Math.max(...active),
    endsAt: endsAt === null ? null : Date.parse(endsAt),
    why: endsWhy ?? (state === 'ended' ? (ended.at(-1)?.why ?? null) : null),
  }
}

/** What the page shows of a sweep. Pure. */
export function sweepFacts({sweep, project, status, spec, best, trials, importance}: Sweep): PageSweep {
  return {
    sweep,
    project,
    status,
    metric: spec.metric,
    goal: spec.goal,
    best: best?.value ?? null,
    importance: importance ?? {},
    trials: trials.map(({number, state, value, params, run}) => ({
      number,
      state,
      value,
      run,
      params: Object.fromEntries(
        Object.entries(params).map(([name, one]) => [name, typeof one === 'number' ? one : String(one)]),
      ),
    })),
  }
}
