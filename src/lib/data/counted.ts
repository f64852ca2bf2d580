import {isCliError, type Context} from '../base/index.ts'
import type {QuotaSum} from '../head/index.ts'
import {openDesk, type QuotaDesk} from '../holding/index.ts'
import type {DataManifest} from '../protocol/index.ts'
import type {DataEnv, Pushed} from './push.ts'

/** Of one command: whether the rack has quotas is asked once. */
const desks = new WeakMap<Context, Promise<QuotaDesk | undefined>>()
const KIND = 'data'
/** With one more it refuses: more than it keeps for one user is not brought, either. */
const MOST_ASKED = 1000

/**
 * Counts a version on a node for quotas, before it comes there; what was there before there were quotas counts from then
 * on. What gives way counts no more. Errors: QUOTA with the sum, those of `bring`.
 */
export async function counted(
  {node, digest, bytes}: {node: string; digest: string; bytes: number},
  env: DataEnv,
  bring: () => Promise<Pushed>,
): Promise<Pushed> {
  const {rack, fleet, project = 'default', context} = env
  if (!rack || !fleet) return bring()
  const opened = desks.get(context) ?? openDesk({rack, fleet}, context)
  desks.set(context, opened)
  const desk = await opened
  if (!desk) return bring()
  const name = dataHolding(node, digest)
  const hint = 'flexrack data list\nflexrack quota list'
  await desk.hold({kind: KIND, name, project, amount: bytes}, hint, (names) => goneAmong(names, env))
  try {
    const pushed = await bring()
    const gone = pushed.evicted.map((one) => dataHolding(node, one))
    await desk.release({kind: KIND, project}, gone)
    return pushed
  } catch (error) {
    await desk.release({kind: KIND, project}, [name])
    throw error
  }
}

/**
 * What versions on nodes would come to, all together, of the limits that count for them; those that are there, and counted,
 * count once. Nothing where the rack has no quotas. Errors: REFUSED for more copies than the head counts for one user, and
 * those of requests.
 */
export async function dataSums(
  nodes: readonly string[],
  versions: readonly Pick<DataManifest, 'digest' | 'bytes'>[],
  {
    rack,
    fleet,
    project = 'default',
    context,
  }: Required<Pick<DataEnv, 'rack' | 'fleet'>> & Pick<DataEnv, 'project' | 'context'>,
): Promise<QuotaSum[]> {
  const [first, ...beside] = nodes.flatMap((node) =>
    versions.map(({digest, bytes}) => ({name: dataHolding(node, digest), amount: bytes})),
  )
  if (!first) return []
  const desk = await openDesk({rack, fleet}, context)
  return (await desk?.sums({kind: KIND, project, ...first, beside: beside.slice(0, MOST_ASKED)})) ?? []
}

/** How the head knows a version on a node. Pure. */
export function dataHolding(node: string, digest: string): string {
  return `${node}/${digest}`
}

/** Those that gave way to others' since. A node that does not answer may still have its own. */
async function goneAmong(names: readonly string[], {host, rack, context}: DataEnv): Promise<string[]> {
  const looked = await Promise.all(
    names.map(async (name) => {
      const [node = '', digest = ''] = name.split('/')
      if (!rack?.nodes.some((one) => one.name === node)) return []
      try {
        const {versions} = await (await host(node)).call('data.list', {digest}, {signal: context.signal})
        return versions.length > 0 ? [] : [name]
      } catch (error) {
        if (isCliError(error)) return []
        throw error
      }
    }),
  )
  return looked.flat()
}
