import {isCliError, type Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import {bubblewrapVersion} from '../image/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {LimitsHeld} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Finding} from './findings.ts'

/** What runs images and sandboxes of the project on a node, and by what the limits of a sandbox hold there. */
export interface InsideOfNode {
  node: string
  /** null: bubblewrap comes with the next `workspace up`, and is tried then. */
  engine: 'bubblewrap' | 'ch-run' | 'apptainer' | 'proot' | null
  /** Where the manifest has a sandbox. */
  limits?: LimitsHeld
}

/** Whether workspace.image and workspace.isolate of a manifest can be had on the nodes. */
export async function checkInside(
  {workspace: {image, isolate}}: Manifest,
  nodes: RackNode[],
  fleet: Fleet,
  ctx: Context,
): Promise<{inside: InsideOfNode[]; findings: Finding[]}> {
  const inside: InsideOfNode[] = []
  const findings: Finding[] = []
  if (image === undefined && !isolate) return {inside, findings}
  await Promise.all(
    nodes.map(async ({name: node}, index) => {
      try {
        const host = await openHost(fleet, nodes[index] as RackNode, ctx)
        const question = {layers: [], tool: bubblewrapVersion()}
        const {runtime, limits} = isolate
          ? await host.call('image.sandbox', question, {signal: ctx.signal})
          : {...(await host.call('image.inspect', question, {signal: ctx.signal})), limits: undefined}
        const what = image === undefined ? 'sandboxes (workspace.isolate)' : 'images (workspace.image)'
        if (runtime.engine === null && runtime.why !== '')
          findings.push({
            severity: 'error',
            about: 'node',
            node,
            message: `it cannot run ${what}: ${runtime.why}`,
            ...(runtime.hint !== null && {fix: runtime.hint}),
          })
        if (runtime.engine !== null && runtime.loss !== null)
          findings.push({
            severity: 'warning',
            about: 'node',
            node,
            message: `images run by ${runtime.engine}, as bubblewrap does not work there (${runtime.why}): ${runtime.loss}`,
            ...(runtime.hint !== null && {fix: runtime.hint}),
          })
        const loose = (['memory', 'pids', 'cpus'] as const).filter(
          (name) => isolate?.[name] !== undefined && limits?.[name] === 'process',
        )
        if (loose.length > 0)
          findings.push({
            severity: 'warning',
            about: 'node',
            node,
            message: `workspace.isolate: ${loose.join(', ')} ${loose.length > 1 ? 'hold' : 'holds'} for each process alone there: this account may make no cgroup`,
            fix: 'sudo loginctl enable-linger USER, and a login by systemd; or let the account have a cgroup of its own',
          })
        inside.push({node, engine: runtime.engine, ...(limits && {limits})})
      } catch (error) {
        if (!isCliError(error) || error.code === 'INTERRUPTED' || error.code === 'BUG') throw error
        findings.push({
          severity: 'error',
          about: 'node',
          node,
          message: error.message,
          ...(error.hint !== undefined && {fix: error.hint}),
        })
      }
    }),
  )
  return {inside: inside.sort((one, other) => one.node.localeCompare(other.node)), findings}
}
