import {CliError, type Context} from '../../lib/base/index.ts'
import {openEndpointSets, type EndpointSets, type RackEndpoint, type SetChange} from '../../lib/endpoint/index.ts'
import {atClose} from '../base/context.ts'
import {openSession, type SessionFlags} from '../base/session.ts'
import type {ChangeAnswer} from './text.ts'

/** Endpoints of several racks are named NAME@RACK. */
export function namesRacks(words: readonly string[]): boolean {
  return words.some((word) => word.includes('@'))
}

/**
 * The endpoints that are named, those without a rack in that of the flags; and the heads of all their racks, closed when the
 * command ends. USAGE where one is named twice.
 */
export async function openNamedSet(
  words: readonly string[],
  flags: SessionFlags,
  context: Context,
): Promise<{set: RackEndpoint[]; sets: EndpointSets}> {
  const named = words.map((word): {name: string; rack: string | undefined} => {
    const [name = '', rack, more] = word.split('@')
    if (name === '' || rack === '' || more !== undefined)
      throw new CliError('USAGE', `"${word}" names no endpoint of a rack`, {hint: 'write it as digits@lab'})
    return {name, rack}
  })
  const racks = [...new Set(named.map(({rack}) => rack))]
  const sessions = new Map(
    await Promise.all(
      racks.map(
        async (rack) => [rack, await openSession({...flags, ...(rack !== undefined && {rack})}, context)] as const,
      ),
    ),
  )
  const set = named.map(({name, rack}) => ({name, rack: sessions.get(rack)!.rack.name}))
  const twice = set.find(
    (one, index) => set.findIndex(({name, rack}) => name === one.name && rack === one.rack) < index,
  )
  if (twice) throw new CliError('USAGE', `endpoint ${twice.name} of rack ${twice.rack} is named twice`)
  const places = [...new Map([...sessions.values()].map((session) => [session.rack.name, session])).values()]
  const sets = await openEndpointSets(places, context)
  atClose(context, () => sets.close())
  return {set, sets}
}

export function setAnswers(command: ChangeAnswer['command'], changes: SetChange[]): ChangeAnswer[] {
  return changes.map(({changed, endpoint, rack}) => ({command, changed, rack, endpoint}))
}
