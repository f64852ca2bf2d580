import {CliError, isCliError, type Context} from '../../lib/base/index.ts'
import type {Problem} from '../../lib/document/index.ts'
import {paint} from '../terminal/print.ts'
import {openSession, type Session, type SessionFlags} from './session.ts'

/** What one of several racks answered, or why it did not. */
export type OfRack<T> =
  | {rack: string; ok: true; answer: T}
  | {rack: string; ok: false; code: string; message: string; hint?: string}

/**
 * The racks of `all`, or of several names or files with commas between. Throws NOT_FOUND where there is no rack at all,
 * USAGE for one that is named twice.
 */
export async function severalRacks(named: string, context: Context): Promise<string[]> {
  if (named === 'all') {
    const {listRacks} = await import('../../lib/rack/index.ts')
    const all = (await listRacks(context.env)).map((rack) => rack.name)
    if (all.length > 0) return all
    throw new CliError('NOT_FOUND', 'there is no rack yet', {hint: 'flexrack local up'})
  }
  const names = named.split(',').map((name) => name.trim())
  const odd = names.find((name, index) => name === '' || names.indexOf(name) < index)
  if (odd === undefined) return names
  throw new CliError('USAGE', odd === '' ? `"${named}" has an empty name` : `rack ${odd} is named twice`, {
    hint: '--rack lab,cloud',
  })
}

/**
 * Asks all of them at once, each in a session of its own. One that cannot be read or does not answer is part of the
 * answer, and the exit status is 8. Throws the error of the first where no rack answered, and INTERRUPTED.
 */
export async function askRacks<T>(
  names: string[],
  flags: SessionFlags,
  context: Context,
  ask: (session: Session) => Promise<T>,
): Promise<OfRack<T>[]> {
  const answers = await Promise.allSettled(names.map(async (rack) => ask(await openSession({...flags, rack}, context))))
  context.signal.throwIfAborted()
  const failed = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  const bug = failed.find((error) => !isCliError(error))
  if (bug !== undefined || failed.length === names.length) throw bug ?? failed[0]
  if (failed.length > 0) process.exitCode = 8
  return answers.map((one, index): OfRack<T> => {
    const rack = names[index] as string
    if (one.status === 'fulfilled') return {rack, ok: true, answer: one.value}
    const {code, hint} = one.reason as CliError
    return {rack, ok: false, code, message: messageOf(one.reason as CliError), ...(hint !== undefined && {hint})}
  })
}

/** Of a file with several errors the first one, too: the others are told where it is the only rack. */
function messageOf({message, details}: CliError): string {
  const [first, ...more] = Array.isArray(details?.problems) ? (details.problems as Problem[]) : []
  return first && more.length > 0 ? `${message}; at ${first.line}:${first.column}: ${first.message}` : message
}

/** What those told that did. Pure. */
export function answersOf<T>(answers: OfRack<T>[]): T[] {
  return answers.flatMap((one) => (one.ok ? [one.answer] : []))
}

/** The racks one below the other, by what `text` says of one; those that did not answer say why. Pure. */
export function racksText<T>(answers: OfRack<T>[], text: (answer: T) => string): string {
  return answers
    .map((one) => `${paint.bold(`rack ${one.rack}`)}\n${one.ok ? text(one.answer) : silentRackText(one)}`)
    .join('\n\n')
}

/** Why a rack is not in an answer. Pure. */
export function silentRackText({message, hint}: OfRack<unknown> & {ok: false}): string {
  return [paint.red(message), ...(hint === undefined ? [] : [`${paint.cyan('try:')} ${hint}`])].join('\n')
}
