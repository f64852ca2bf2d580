import type {Context} from '../../lib/base/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import type {Workspace} from '../../lib/workspace/index.ts'
import {openHosts, throwIfNodesFailed} from './hosts.ts'
import {planText} from '../terminal/render.ts'
import type {ProjectSession} from '../base/session.ts'
import {workspaceNodes} from './nodes.ts'
import {upText, type UpAnswer} from './text.ts'

export interface UpFlags {
  on?: string | undefined
  dryRun: boolean
  codeOnly: boolean
  overwrite: boolean
  command: string
}

/** What `workspace up` and `workspace sync` do: every reachable node is done, also where another one fails. */
export async function bringUp(
  flags: UpFlags,
  {rack, fleet, manifest}: ProjectSession,
  context: Context,
  answer: <T>(value: T, text: (value: T) => string) => T,
): Promise<Plan | UpAnswer> {
  const started = performance.now()
  const {planWorkspace, upWorkspace} = await import('../../lib/workspace/index.ts')
  const nodes = workspaceNodes(rack, flags.on)
  const {hosts, failed} = await openHosts(fleet, nodes, context)
  const prepared = await planWorkspace(hosts, manifest, context, {
    codeOnly: flags.codeOnly,
    overwrite: flags.overwrite,
    command: flags.command,
  })
  if (flags.dryRun) {
    await throwIfNodesFailed(nodes, new Map([...failed, ...prepared.failed]))
    return answer(prepared.plan, planText)
  }
  const workspaces = await upWorkspace(hosts, manifest, context, {
    prepared,
    unreached: failed,
    nodes: nodes.map((one) => one.name),
  })
  const took = Math.round(performance.now() - started)
  return answer({project: manifest.name, took, nodes: [...workspaces.values()].map(shown)}, upText)
}

function shown({node, codePath, environment, synced}: Workspace): UpAnswer['nodes'][number] {
  return {
    node,
    codePath,
    changed: synced?.changed ?? 0,
    removed: synced?.removed ?? 0,
    bytes: synced?.bytes ?? 0,
    ...(environment && {environment}),
  }
}
