import {Chalk, type ChalkInstance} from 'chalk'
import {colorLevel} from './color.ts'
import {printable} from './printable.ts'

/** Colours for stdout, where answers go. Renderers use it; it adds nothing in a pipe or under NO_COLOR. */
export const paint: ChalkInstance = new Chalk({level: colorLevel(process.stdout, process.env)})

/** Colours for stderr, where progress, warnings and errors go. */
export const paintError: ChalkInstance = new Chalk({level: colorLevel(process.stderr, process.env)})

/**
 * One line on stderr; what remote text in it could do to the terminal is taken out. A closed stderr is nobody's
 * problem.
 */
export function printError(line: string): void {
  process.stderr.write(`${printable(line, paintError.level > 0)}\n`)
}
