import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Plan, StepHandler} from '../plan/index.ts'
import {ownName} from './sync.ts'

/** What `workspace stop` ended, or `workspace remove` removed, on a node. */
export interface Ended {
  node: string
  project: string
  ended: {pid: number; command: string}[]
  /** Processes that outlived SIGKILL. */
  survived?: number[]
  /** Path of the folder that went; null where there was none. */
  removed?: string | null
  files?: number
  /** Freed, in bytes. */
  bytes?: number
}

export interface EndInput {
  project: string
  /** Also remove the workspace's folder. */
  remove: boolean
  /** Seconds between SIGTERM and SIGKILL. */
  grace: number
}

/**
 * What has to be ended (and removed) on the nodes: steps only where there is something. Errors: CONFLICT where a run is in the
 * workspace that should be removed. Executing it gives an Ended a step; NODE_UNFIT if a process cannot be ended.
 */
export async function planEnd(hosts: Host[], input: EndInput, context: Context): Promise<{plan: Plan; handlers: Record<string, StepHandler>}> {
  const verb = input.remove ? 'workspace.remove' : 'workspace.stop'
  const request = {project: input.project, grace: input.grace, owner: ownName()}
  const found = await Promise.all(
    hosts.map(async (host) => ({host, would: await host.call<Omit<Ended, 'node'>>(verb, {...request, dry_run: true}, {signal: context.signal})})),
  )
  const concerned = found.filter(({would}) => would.ended.length > 0 || (would.survived ?? []).length > 0 || typeof would.removed === 'string')
  return {
    plan: {
      command: input.remove ? 'workspace remove' : 'workspace stop',
      steps: concerned.map(({host, would}) => ({
        id: `${input.remove ? 'remove' : 'stop'}:${host.node}`,
        node: host.node,
        kind: verb,
        title: titleOf(would, input.remove),
        input: {...would},
        needs: [],
      })),
    },
    handlers: {
      [verb]: async (step) => {
        const {host} = concerned.find((one) => one.host.node === step.node) as {host: Host}
        const ended = await host.call<Omit<Ended, 'node'>>(verb, request, {signal: context.kill})
        return {node: host.node, ...ended, project: input.project} satisfies Ended
      },
    },
  }
}

function titleOf(would: Omit<Ended, 'node'>, remove: boolean): string {
  const count = would.ended.length
  const end = count === 0 ? '' : `End ${count === 1 ? `process ${would.ended[0]?.pid} (${would.ended[0]?.command})` : `${count} processes`}`
  if (!remove) return end
  const gone = `${end === '' ? 'Remove' : ', remove'} ${would.removed} (${would.files} files, ${would.bytes} bytes)`
  return `${end}${gone}`
}
