import {Chalk, type ChalkInstance} from 'chalk'

/** Colours for stdout, where answers go. Renderers use it; it adds nothing in a pipe or under NO_COLOR. */
export const paint: ChalkInstance = new Chalk({level: colorLevel(process.stdout, process.env)})

/** Colours for stderr, where progress, warnings and errors go. */
export const paintError: ChalkInstance = new Chalk({level: colorLevel(process.stderr, process.env)})

/** One line on stderr. A closed stderr is nobody's problem. */
export function printError(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** One line on stdout, for follow mode; everything else is printed by BaseCommand.answer. */
export function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

/**
 * How many colours a stream gets: none under NO_COLOR (https://no-color.org: set and not empty) or TERM=dumb or outside
 * a terminal, unless FORCE_COLOR asks for them.
 */
export function colorLevel(stream: {isTTY?: boolean}, env: NodeJS.ProcessEnv): 0 | 1 {
  if (env.NO_COLOR) return 0
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR === '0' || env.FORCE_COLOR === 'false' ? 0 : 1
  return stream.isTTY && env.TERM !== 'dumb' ? 1 : 0
}
