import {CliError, Secret, type Context} from '../../lib/base/index.ts'
import {suspendProgress} from '../progress/reporter.ts'

/** How a question can be answered without a terminal: what to write on the command line, e.g. `--yes`. */
export interface Question {
  message: string
  /** The flag, or the words, that give the answer instead: `--yes`, `--template NAME`. */
  flag: string
}

/** Yes or no; no by default. Errors: NEEDS_TERMINAL, INTERRUPTED. */
export async function confirm(question: Question & {byDefault?: boolean}, context: Context): Promise<boolean> {
  return ask(question, context, (prompts, options) =>
    prompts.confirm({message: question.message, default: question.byDefault ?? false}, options),
  )
}

/** One of several. Errors: NEEDS_TERMINAL, INTERRUPTED. */
export async function choose<T extends string>(
  question: Question & {choices: readonly {value: T; description?: string}[]},
  context: Context,
): Promise<T> {
  const choices = question.choices.map(({value, description}) => ({value, ...(description && {description})}))
  return ask(question, context, (prompts, options) => prompts.select<T>({message: question.message, choices}, options))
}

/** A line of text. Errors: NEEDS_TERMINAL, INTERRUPTED. */
export async function askText(question: Question & {byDefault?: string}, context: Context): Promise<string> {
  return ask(question, context, (prompts, options) =>
    prompts.input({message: question.message, ...(question.byDefault && {default: question.byDefault})}, options),
  )
}

/** A passphrase or token, not echoed. Errors: NEEDS_TERMINAL, INTERRUPTED. */
export async function askSecret(question: Question, context: Context): Promise<Secret> {
  return new Secret(
    await ask(question, context, (prompts, options) => prompts.password({message: question.message}, options)),
  )
}

/** True where a question can be asked at all. */
export function hasTerminal(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY)
}

type Prompts = typeof import('@inquirer/prompts')

async function ask<T>(
  question: Question,
  context: Context,
  show: (prompts: Prompts, options: {output: NodeJS.WriteStream; signal: AbortSignal}) => Promise<T>,
): Promise<T> {
  if (!hasTerminal()) {
    throw new CliError('NEEDS_TERMINAL', `"${question.message}" must be answered, but there is no terminal to ask on`, {
      hint: /^--[a-z-]+$/.test(question.flag) ? question.flag : `pass ${question.flag}`,
      details: {flag: question.flag},
    })
  }
  const prompts = await import('@inquirer/prompts')
  try {
    return await suspendProgress(() => show(prompts, {output: process.stderr, signal: context.signal}))
  } catch (error) {
    // inquirer's own two ways to say that the question was not answered.
    const name = error instanceof Error ? error.name : ''
    if (name === 'ExitPromptError' || name === 'AbortPromptError')
      throw new CliError('INTERRUPTED', 'interrupted at a question')
    throw error
  }
}
