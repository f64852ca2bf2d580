import {CliError, isCliError, type Context} from '../../lib/base/index.ts'
import type {Host} from '../../lib/host/index.ts'
import type {Notebook} from '../../lib/notebook/index.ts'
import {selectNodes, type RackNode} from '../../lib/rack/index.ts'
import type {Session} from '../base/session.ts'
import {openHosts, throwIfNodesFailed} from '../workspace/hosts.ts'

/** What does nothing is ended after so long, where nothing else is said. */
export const IDLE_SECONDS = 2 * 3600

/**
 * The notebooks of a rack's nodes, of one project or all. Nodes that do not answer are warned of; only if none does it
 * throws.
 */
export async function notebooksOf(
  {rack, fleet}: Session,
  {project, on}: {project?: string | undefined; on?: string | undefined},
  context: Context,
): Promise<{notebook: Notebook; host: Host}[]> {
  const {findNotebooks} = await import('../../lib/notebook/index.ts')
  const nodes = selectNodes(rack, on, rack.nodes)
  const {hosts, failed} = await openHosts(fleet, nodes, context)
  if (hosts.length === 0) await throwIfNodesFailed(nodes, failed)
  for (const [node, error] of failed) context.reporter.warn(`${node} was not asked: ${error.message}`)
  const found = await Promise.all(
    hosts.map(async (host) => (await findNotebooks(host, project, context)).map((notebook) => ({notebook, host}))),
  )
  return found.flat()
}

/** The one notebook of a project. Errors: NOT_FOUND, USAGE where several nodes have one. */
export async function oneNotebook(
  session: Session,
  project: string,
  on: string | undefined,
  context: Context,
): Promise<{notebook: Notebook; host: Host; node: RackNode}> {
  const found = await notebooksOf(session, {project, on}, context)
  const [first] = found
  if (!first) throw new CliError('NOT_FOUND', `there is no notebook of ${project}`, {hint: 'flexrack notebook start'})
  if (found.length > 1)
    throw new CliError('USAGE', `${found.length} nodes have a notebook of ${project}`, {
      hint: `--on ${first.host.node}`,
      details: {nodes: found.map((one) => one.host.node)},
    })
  return {...first, node: session.rack.nodes.find((one) => one.name === first.host.node) as RackNode}
}

/** The log of a notebook's service, line by line. */
export async function printLog(
  host: Host,
  project: string,
  how: {follow: boolean; tail: number},
  onLine: (line: string) => void,
  context: Context,
): Promise<void> {
  const [{followServiceLog}, {StringDecoder}] = await Promise.all([
    import('../../lib/host/index.ts'),
    import('node:string_decoder'),
  ])
  const decoder = new StringDecoder('utf8')
  let rest = ''
  try {
    await followServiceLog(host, `notebook-${project}`, {
      ...how,
      signal: context.signal,
      onData: (chunk) => {
        const lines = (rest + decoder.write(chunk)).split('\n')
        rest = lines.pop() ?? ''
        lines.forEach(onLine)
      },
    })
  } catch (error) {
    if (!(isCliError(error, 'INTERRUPTED') && how.follow)) throw error
  }
  if (rest !== '') onLine(rest)
}
