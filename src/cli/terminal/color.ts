/**
 * How many colours a stream gets: none under NO_COLOR (https://no-color.org: set and not empty) or TERM=dumb or outside
 * a terminal, unless FORCE_COLOR asks for them.
 */
export function colorLevel(stream: {isTTY?: boolean}, env: NodeJS.ProcessEnv): 0 | 1 {
  if (env.NO_COLOR) return 0
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR === '0' || env.FORCE_COLOR === 'false' ? 0 : 1
  return stream.isTTY && env.TERM !== 'dumb' ? 1 : 0
}
