import {openProjectSession, type ProjectSession, type SessionFlags} from '../base/session.ts'
import {CliError, isCliError, type Context, type ErrorCode} from '../../lib/base/index.ts'

/** Reasons of a rack alone. Another error (a wrong manifest, Ctrl-C, a rank that failed) is the same on every rack. */
const OF_A_RACK: readonly ErrorCode[] = [
  'RESERVED',
  'RESERVATION_LOST',
  'QUOTA',
  'GPU_UNAVAILABLE',
  'GPU_FAILED',
  'GPU_REFUSED',
  'LOCKED',
  'NODE_UNREACHABLE',
  'NODE_UNFIT',
  'HOST_KEY_UNKNOWN',
  'HOST_KEY_CHANGED',
  'AUTH_FAILED',
  'REFUSED',
  'PREFLIGHT_FAILED',
  'ENVIRONMENT_FAILED',
  'HEAD_FAILED',
  'NOT_FOUND',
  'RACK_INVALID',
  'SOME_NODES_FAILED',
]

/** `wait`: to stand in line. `started` is called once something of the run is running. */
export interface Try {
  wait: boolean
  started(): void
}
/** One try on a rack. */
export type Attempt<T> = (rack: string, how: Try) => Promise<T>

/** On the rack that the flags mean; of several, named, on the first that can do it now: see onFirstRack. */
export async function onRack<T>(
  names: string[] | undefined,
  flags: SessionFlags & {wait: boolean},
  attempt: (place: ProjectSession, how: Try) => Promise<T>,
  context: Context,
): Promise<T> {
  const open = async (rack: string | undefined): Promise<ProjectSession> =>
    openProjectSession({...flags, rack}, context)
  if (!names) return attempt(await open(flags.rack), {wait: flags.wait, started: () => {}})
  return onFirstRack(names, flags, async (rack, how) => attempt(await open(rack), how), context)
}

/**
 * Tries the racks in their order, and gives what the first that can do it now gives. What a rack lacks is told, and the
 * next is tried; after a start its errors are the run's. With `wait`, and where none can now, it stands in line at the
 * first whose nodes other runs have, or where a quota is used up. Throws what is no rack's own reason; else an error with
 * every rack's in `details.racks`.
 */
export async function onFirstRack<T>(
  racks: string[],
  {wait}: {wait: boolean},
  attempt: Attempt<T>,
  context: Context,
): Promise<T> {
  const refused: {rack: string; error: CliError}[] = []
  for (const rack of racks) {
    let isStarted = false
    try {
      return await attempt(rack, {wait: false, started: () => (isStarted = true)})
    } catch (error) {
      if (isStarted || context.signal.aborted || !isCliError(error, ...OF_A_RACK)) throw error
      refused.push({rack, error})
      context.reporter.note(`rack ${rack} cannot start it now: ${error.message}`)
    }
  }
  const full = refused.find(({error}) => error.code === 'RESERVED' || error.code === 'QUOTA')
  if (wait && full) {
    context.reporter.note(`no rack can start it now: it waits at rack ${full.rack}`)
    return attempt(full.rack, {wait: true, started: () => {}})
  }
  const first = full ?? refused[0]
  throw new CliError(
    first?.error.code ?? 'NOT_FOUND',
    `no rack can start it now: ${refused.map(({rack, error}) => `${rack}: ${error.message}`).join('; ')}`,
    {
      hint: full ? '--wait' : (first?.error.hint ?? 'flexrack rack list'),
      details: {
        racks: refused.map(({rack, error: {code, message, hint}}) => ({
          rack,
          code,
          message,
          ...(hint !== undefined && {hint}),
        })),
      },
      cause: first?.error,
    },
  )
}
