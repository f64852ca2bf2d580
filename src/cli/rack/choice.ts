import {CliError, nearestName, type Context} from '../../lib/base/index.ts'
import type {Rack, RackNode} from '../../lib/rack/index.ts'
import type {Session, SessionFlags} from '../base/session.ts'

export interface RackWords {
  rack?: string | undefined
  node?: string | undefined
}

/**
 * What `[RACK] [NODE]` mean: a single word that is no rack selects nodes of the rack that is meant without it. `open`
 * opens the session. `nodes` is undefined where no node is named. Errors: those of openSession; NOT_FOUND where a word
 * names neither, or no node.
 */
export async function openNamedRack(
  words: RackWords,
  flags: SessionFlags,
  open: (flags: SessionFlags) => Promise<Session>,
  {env}: Context,
): Promise<Session & {nodes: RackNode[] | undefined}> {
  const {listRacks, selectNodes} = await import('../../lib/rack/index.ts')
  const word = words.rack
  if (word === undefined || words.node !== undefined || /\/|\.ya?ml$/.test(word))
    return named(await open({...flags, rack: word ?? flags.rack}), words.node)
  const racks = (await listRacks(env)).map(({name}) => name)
  if (racks.includes(word)) return named(await open({...flags, rack: word}), undefined)
  const session = await open(flags).catch((error: unknown) => {
    throw error instanceof CliError && error.code === 'USAGE' && error.details.racks !== undefined
      ? neither(word, racks, undefined, error.hint)
      : error
  })
  try {
    return named(session, word)
  } catch (error) {
    throw error instanceof CliError && error.code === 'NOT_FOUND'
      ? neither(word, racks, session.rack, undefined)
      : error
  }

  function named(found: Session, selector: string | undefined): Session & {nodes: RackNode[] | undefined} {
    return {...found, nodes: selector === undefined ? undefined : selectNodes(found.rack, selector, [])}
  }
}

/** `rack` is undefined where several could be meant; `way` is how to choose one. */
function neither(word: string, racks: string[], rack: Rack | undefined, way: string | undefined): CliError {
  const nodes = rack?.nodes.map(({name}) => name) ?? []
  const nearest = nearestName(word, [...racks, ...nodes])
  const what =
    rack === undefined
      ? `there is no rack "${word}", and of several racks none is chosen whose node it could be`
      : `there is neither a rack "${word}" nor such a node of the rack ${rack.name}`
  return new CliError('NOT_FOUND', `${what}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`, {
    hint:
      nearest === undefined
        ? (way ?? `flexrack rack show ${rack?.name ?? ''}`.trimEnd())
        : `flexrack rack show ${nearest}`,
    details: {racks, ...(rack && {nodes})},
  })
}
