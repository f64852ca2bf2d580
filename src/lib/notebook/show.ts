import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {NotebookEntry} from '../protocol/index.ts'

export interface NotebookKernel {
  notebook: string | null
  kind: string | null
  /** As Jupyter has it: starting, idle, busy. */
  state: string
  /** ISO 8601. */
  activeAt: string
  /** When it will be ended if nobody uses it before. */
  endsAt: string | null
}

export interface Notebook {
  project: string
  node: string
  code: string
  /** ready: it answers. starting: not yet. ended: nothing runs any more, see `ended`. failed: it gave up. */
  state: 'ready' | 'starting' | 'ended' | 'failed'
  /** Seconds after which what does nothing is ended; 0: never. */
  idle: number
  endsAt: string | null
  endsWhy: string | null
  kernels: NotebookKernel[]
  /** The last ends, oldest first. */
  ended: {what: string; why: string; at: string}[]
}

/** The notebooks of a node: all, or that of one project. */
export async function findNotebooks(host: Host, project: string | undefined, context: Context): Promise<Notebook[]> {
  const found = await host.call('notebook.list', {...(project !== undefined && {project})}, {signal: context.signal})
  return found.map((entry) => shown(host.node, entry))
}

/** Pure. */
export function shown(node: string, {project, code, service, idle, end_at: endAt, seen}: NotebookEntry): Notebook {
  const isRunning = service.state === 'running' || service.state === 'starting' || service.state === 'waiting'
  const state = isRunning
    ? service.state === 'running' && seen?.ready
      ? 'ready'
      : 'starting'
    : service.state === 'failed'
      ? 'failed'
      : 'ended'
  return {
    project,
    node,
    code,
    state,
    idle,
    endsAt: isRunning ? time(seen?.ends_at ?? endAt) : null,
    endsWhy: isRunning ? (seen?.ends_why ?? null) : null,
    kernels: isRunning
      ? (seen?.kernels ?? []).map((one) => ({
          notebook: one.notebook,
          kind: one.kernel,
          state: one.state,
          activeAt: time(one.active_at) as string,
          endsAt: time(one.ends_at),
        }))
      : [],
    ended: (seen?.ended ?? []).map(({what, why, at}) => ({what, why, at: time(at) as string})),
  }
}

function time(seconds: number | null | undefined): string | null {
  return typeof seconds === 'number' ? new Date(seconds * 1000).toISOString() : null
}
