import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {open, readFile} from 'node:fs/promises'
import {hostname} from 'node:os'
import {CliError, ERROR_CODES, isRequested, type Context, type ErrorCode} from '../base/index.ts'
import {replay, type Order, type Reported, type ReportedError} from './messages.ts'
import {filesOf, logSize, openFolder} from './record.ts'

export interface BackgroundStart {
  /** What it is busy with: its record and its log are found by it. */
  name: string
  project: string
  /**
   * The program, and the words of the command line. Others see them for as long as it runs: nothing that came from the
   * user but where to look.
   */
  words: string[]
  /** What it is to do; it gets it through a pipe. Plain data. */
  order: unknown
}

/** Of our own: they mean this command's output, or this process. */
const NOT_INHERITED = ['FLEXRACK_CONTENT_TYPE', 'FLEXRACK_LAUNCHER', 'FORCE_COLOR']
const LAST_LINES = 10

/**
 * Starts our own program in a session of its own, with no terminal and nothing on stdin, and what it says in its log;
 * it survives this process, its terminal and a Ctrl-C there. Reports what it reports until it says that it has begun,
 * or that there was nothing left to do (`over`). Errors: the one that it ended with; LOCAL_FAILED, with its last lines,
 * where it went without a word. Ctrl-C before it has begun ends it, too.
 */
export async function startBackground(
  {name, project, words, order}: BackgroundStart,
  context: Context,
): Promise<'begun' | 'over'> {
  await openFolder(name, context)
  const {log} = filesOf(name, context)
  const from = await logSize(log)
  const file = await open(log, 'a', 0o600)
  const env: NodeJS.ProcessEnv = {...context.env, NO_COLOR: '1'}
  for (const one of NOT_INHERITED) delete env[one]
  const screen = replay(context.reporter)
  try {
    const child = spawn(words[0] as string, words.slice(1), {
      detached: true,
      env,
      stdio: ['ignore', file.fd, file.fd, 'ipc'],
    })
    const stop = (): void => {
      // The user has not asked for its end where only the terminal, or the reader of our output, is gone.
      if (isRequested(context.signal)) child.kill('SIGTERM')
    }
    const kill = (): boolean => child.kill('SIGTERM')
    context.signal.addEventListener('abort', stop, {once: true})
    context.kill.addEventListener('abort', kill, {once: true})
    try {
      return await new Promise<'begun' | 'over'>((resolve, reject) => {
        child.on('message', (message) => {
          const reported = message as Reported
          if (reported.reported === 'begun' || reported.reported === 'over') resolve(reported.reported)
          else if (reported.reported === 'failed') reject(errorOf(reported.error))
          else screen.hear(reported)
        })
        // Both: what it told last may be read after its end is known. An error is that it cannot be started.
        void Promise.all([once(child, 'exit'), once(child, 'disconnect')]).then(
          async ([[status, signal]]) =>
            reject(withoutWord({status, signal, log, lines: await lastLines(log, from)} as Ended, context)),
          reject,
        )
        const first: Order<unknown> = {name, project, log, order}
        child.send(first, (error) => error && child.kill('SIGTERM'))
        if (context.signal.aborted) stop()
      })
    } finally {
      context.signal.removeEventListener('abort', stop)
      context.kill.removeEventListener('abort', kill)
      if (child.connected) child.disconnect()
      child.unref()
    }
  } finally {
    screen.close()
    await file.close()
  }
}

interface Ended {
  status: number | null
  signal: string | null
  log: string
  lines: string[]
}

function errorOf({code, message, ...more}: ReportedError): CliError {
  return new CliError(Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : 'BUG', message, more)
}

function withoutWord({status, signal, log, lines}: Ended, context: Context): CliError {
  if (context.signal.aborted) return new CliError('INTERRUPTED', 'interrupted')
  return new CliError(
    'LOCAL_FAILED',
    `the process in the background on ${hostname()} ended before it began (${signal ?? `status ${status}`})`,
    {details: {log, lines}},
  )
}

async function lastLines(log: string, from: number): Promise<string[]> {
  const text = (await readFile(log).catch(() => Buffer.alloc(0))).subarray(from).toString().trim()
  return text === '' ? [] : text.split('\n').slice(-LAST_LINES)
}
