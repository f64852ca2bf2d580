import {channel} from 'node:diagnostics_channel'
import {Readable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import {CliError, isCliError} from '../base/index.ts'
import type {NodeShell, RemoteProcess} from '../ssh/index.ts'
import {toCliError} from './node-error.ts'
import {holdsReference} from './references.ts'
import {verbScript} from './scripts.ts'
import type {Verbs} from '../protocol/index.ts'
import type {CallOptions, Verb} from './types.ts'

/** Where the node program is on a node, and what runs it. All absolute. */
export interface Installation {
  root: string
  environments: string
  python: string
  folder: string
}

/** Milliseconds that a verb has to put things in order after it was asked to stop. */
const GRACE_MS = 10_000
const LF = 10
/**
 * Bytes of one line of an answer. The longest that are sent are listings of a project's files, about 200 bytes each.
 */
const LONGEST_ANSWER = 128 * 1024 ** 2

/**
 * Every message between here and a node: `{verb, part, value}`. Nobody listens but tests, which hold them against
 * protocol/.
 */
const messages = channel('flexrack.message')

export interface Message {
  verb: Verb
  part: 'input' | 'events' | 'result' | 'error'
  value: unknown
}

function tell(verb: Verb, part: Message['part'], value: unknown): void {
  if (messages.hasSubscribers) messages.publish({verb, part, value} satisfies Message)
}

/** Host.call. */
export async function callVerb<V extends Verb>(
  shell: NodeShell,
  installation: Installation,
  verb: V,
  input: Verbs[V]['input'],
  options: CallOptions<Verbs[V]['event']> = {},
): Promise<Verbs[V]['result']> {
  const {signal, onEvent} = options
  tell(verb, 'input', input)
  const interrupted = (): CliError => new CliError('INTERRUPTED', 'interrupted', {details: {node: shell.node}})
  if (signal?.aborted) throw interrupted()
  // It may break before the verb is there to read from it.
  if (options.body instanceof Readable) options.body.on('error', () => {})
  const process = await shell.spawn(verbScript(installation, verb), {first: `${JSON.stringify(input ?? null)}\n`})
  let hard: NodeJS.Timeout | undefined
  const abort = (): void => {
    process.kill('TERM')
    hard = setTimeout(() => process.kill('KILL'), GRACE_MS)
  }
  signal?.addEventListener('abort', abort, {once: true})
  if (signal?.aborted) abort()
  try {
    const [answer, stderr, ending] = await Promise.all([
      readAnswer(process.stdout, {node: shell.node, verb}, (event) => {
        tell(verb, 'events', event)
        onEvent?.(event as Verbs[V]['event'])
      }),
      readTail(process.stderr),
      process.exit,
      send(process, options.body),
    ])
    if (answer && 'error' in answer) {
      tell(verb, 'error', answer.error)
      throw toCliError(shell.node, answer.error)
    }
    if (answer) tell(verb, 'result', answer.result)
    if (signal?.aborted) throw interrupted()
    if (answer && ending.status === 0) return answer.result as Verbs[V]['result']
    throw new CliError(
      'REMOTE_FAILED',
      `${verb} on ${shell.node} ended without an answer (${ending.signal ? `signal ${ending.signal}` : `status ${ending.status}`})`,
      {
        details: {node: shell.node, verb, ...ending, stderr},
      },
    )
  } catch (error) {
    if (signal?.aborted) throw interrupted()
    if (isCliError(error)) process.kill('TERM') // it may still be at it
    throw error
  } finally {
    clearTimeout(hard)
    signal?.removeEventListener('abort', abort)
  }
}

async function readAnswer(
  stdout: Readable,
  {node, verb}: {node: string; verb: Verb},
  onEvent: (event: unknown) => void,
): Promise<{result: unknown} | {error: unknown} | undefined> {
  let answer: {result: unknown} | {error: unknown} | undefined
  for await (const line of linesOf(stdout, LONGEST_ANSWER)) {
    if (line === undefined)
      throw new CliError(
        'REMOTE_FAILED',
        `${verb} on ${node} has answered with a line of more than ${LONGEST_ANSWER / 1024 ** 2} MiB`,
        {details: {node, verb}},
      )
    const value = parseLine(line)
    if (!value) continue
    // It may become a part of a plan, and there it would stand for what other nodes have answered, or for a secret.
    if (holdsReference(value))
      throw new CliError(
        'REMOTE_FAILED',
        `${verb} on ${node} has answered with a reference to what is not that node's`,
        {details: {node, verb}},
      )
    if ('event' in value) onEvent(value)
    else if ('result' in value || 'error' in value) answer = value as {result: unknown}
  }
  return answer
}

/**
 * Whole lines of a stream, and what follows the last; undefined, and the end, where one is longer than `longest` bytes:
 * a node may not have all our memory.
 */
async function* linesOf(stream: Readable, longest: number): AsyncGenerator<string | undefined> {
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, end)]).toString()
      parts = []
      size = 0
      from = end + 1
    }
    parts.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > longest) return yield undefined
  }
  if (size > 0) yield Buffer.concat(parts).toString()
}

/** Lines that are no JSON object are something's noise (a library that prints); they cannot be an answer. */
function parseLine(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

async function readTail(stream: Readable): Promise<string> {
  let tail = ''
  for await (const chunk of stream) tail = (tail + String(chunk)).slice(-4000)
  return tail.trim()
}

/** What follows the input, which has gone along with the script. */
async function send(process: RemoteProcess, body: CallOptions['body']): Promise<void> {
  if (!(body instanceof Readable)) {
    process.stdin.end(body)
    return
  }
  try {
    await pipeline(body, process.stdin)
  } catch {
    // it answered early; the answer tells why
    if (body.errored === null || (body.errored as {code?: string}).code === 'EPIPE') return
    process.kill()
    throw body.errored
  }
}
