import type {Context} from '../../lib/base/index.ts'
import type {ExecResult} from '../../lib/ssh/index.ts'
import {throwIfNodesFailed} from './hosts.ts'
import {exitStatus, runAttached, runCaptured, throwIfStatus} from '../base/remote-run.ts'
import type {ProjectSession} from '../base/session.ts'
import {openWorkspace, openWorkspaces, workspaceNodes} from './nodes.ts'
import {volumesOn} from './volumes.ts'

export type NodeResult = {node: string} & ExecResult

/**
 * Runs words in the project's workspaces: attached on one node, with prefixed lines on several. Sets the exit status to
 * the command's.
 */
export async function runInWorkspaces(
  words: string[],
  on: string | undefined,
  session: ProjectSession,
  context: Context,
  json: boolean,
): Promise<NodeResult[] | undefined> {
  const {workspaceScript} = await import('../../lib/workspace/index.ts')
  const {rack, fleet, manifest} = session
  const nodes = workspaceNodes(rack, on)
  const [only] = nodes
  if (only && nodes.length === 1) {
    const {host, workspace} = await openWorkspace(fleet, only, manifest.name, context)
    const command = workspaceScript(workspace, manifest.workspace.env, words, {
      isolate: manifest.workspace.isolate,
      volumes: await volumesOn(host, session, context),
    })
    const ending = json
      ? await runCaptured(host.shell, command, context)
      : await runAttached(host.shell, command, context)
    process.exitCode = await exitStatus(ending)
    return 'stdout' in ending ? [{node: only.name, ...(ending as ExecResult)}] : undefined
  }
  const {workspaces, failed} = await openWorkspaces(fleet, nodes, manifest.name, context)
  const print =
    (node: string) =>
    (line: string, stream: 'stdout' | 'stderr'): void =>
      void process[stream].write(`${node}: ${line}\n`)
  const settled = await Promise.allSettled(
    workspaces.map(async ({host, workspace}): Promise<NodeResult> => {
      const command = workspaceScript(workspace, manifest.workspace.env, words, {
        isolate: manifest.workspace.isolate,
        volumes: await volumesOn(host, session, context),
      })
      return {
        node: host.node,
        ...(await runCaptured(host.shell, command, context, json ? undefined : print(host.node))),
      }
    }),
  )
  for (const [index, one] of settled.entries()) {
    if (one.status === 'rejected') failed.set(workspaces[index]?.host.node as string, one.reason as Error)
  }
  const results = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  await throwIfNodesFailed(nodes, failed)
  if (json) {
    if (results.some((one) => one.status !== 0)) process.exitCode = 8
    return results
  }
  throwIfStatus(results, words)
  return undefined
}
