import {listBackgrounds, type Background} from '../../lib/background/index.ts'
import {CliError, isCliError, type Context} from '../../lib/base/index.ts'
import {ago} from '../terminal/render.ts'

/**
 * Where the head's node does not answer, which alone knows the sweeps, what this machine knows is told with the error:
 * which of its processes drive one of the project's (or the one that is named), since when they wait for a connection,
 * and how they are ended. Throws in any case.
 */
export async function throwWithDrivers(
  error: unknown,
  {project, name}: {project: string | undefined; name?: string | undefined},
  context: Pick<Context, 'env'>,
): Promise<never> {
  if (!isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT')) throw error
  const drivers = (await listBackgrounds(context)).filter(
    (one) =>
      one.state === 'running' &&
      (name === undefined ? project === undefined || one.project === project : one.name.startsWith(name)),
  )
  if (drivers.length === 0) throw error
  const lines = drivers.map(
    (one) =>
      `${one.name}: driven by process ${one.pid} here${one.waiting ? `, which ${waitingText(one.waiting)}` : ''}`,
  )
  const hint = drivers
    .flatMap((one) => [`flexrack sweep logs ${one.name} -f`, `flexrack sweep stop ${one.name}`])
    .join('\n')
  throw new CliError(error.code, `${error.message}; known here:\n  ${lines.join('\n  ')}`, {
    hint: [...(error.hint ? [error.hint] : []), hint].join('\n'),
    details: {
      ...error.details,
      drivers: drivers.map(({name: sweep, pid, started, waiting, log}) => ({sweep, pid, started, waiting, log})),
    },
    cause: error,
  })
}

/** What a process in the background that has lost its connection is at. */
export function waitingText({since, why}: NonNullable<Background['waiting']>): string {
  return `has waited for a connection since ${ago(since)} (${why}), and tries again for two days at most`
}
