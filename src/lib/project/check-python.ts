import {isCliError, type Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import type {EnvironmentPlanned} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Finding} from './findings.ts'

/** The Python that the project's environments will have on a node. */
export interface PythonOfNode {
  node: string
  version: string
  /** `uv`: it is to be installed. */
  by: EnvironmentPlanned['by']
}

/** Which Python the version of the manifest means on each node. */
export async function checkPython(
  version: string,
  nodes: RackNode[],
  fleet: Fleet,
  ctx: Context,
): Promise<{pythons: PythonOfNode[]; findings: Finding[]}> {
  const found = await Promise.all(
    nodes.map(async (node): Promise<PythonOfNode | Finding> => {
      try {
        const {python, by} = await (
          await openHost(fleet, node, ctx)
        ).call('environment.plan', {requirements: '', python: version}, {signal: ctx.signal})
        return {node: node.name, version: python, by}
      } catch (error) {
        if (!isCliError(error, 'NODE_UNFIT')) throw error
        return {
          severity: 'error',
          about: 'node',
          node: node.name,
          message: error.message,
          ...(error.hint !== undefined && {fix: error.hint}),
        }
      }
    }),
  )
  return {pythons: found.filter((one) => 'by' in one), findings: found.filter((one) => 'about' in one)}
}
