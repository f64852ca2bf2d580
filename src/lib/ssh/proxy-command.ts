import {spawn, type ChildProcessWithoutNullStreams} from 'node:child_process'
import {Duplex} from 'node:stream'
import {CliError} from '../base/index.ts'

/** The command gets these without quotes, as with ssh: what a shell would make something of is in no such name. */
const PLAIN = /^[A-Za-z0-9_.][A-Za-z0-9_.:@%+-]*$/
/** A shell's status where there is no such command. */
const NOT_FOUND = 127
/** Characters of the command's last words that are kept. */
const MOST_WORDS = 500

/**
 * ssh_config(5), ProxyCommand: with %h, %n, %p, %r and %% put in. Errors: NODE_UNREACHABLE where a name would be more
 * than a name to a shell.
 */
export function expandProxyCommand(
  command: string,
  label: string,
  tokens: Record<'h' | 'n' | 'p' | 'r', string>,
): string {
  return command.replace(/%(.)/g, (all, letter: string) => {
    if (letter === '%') return '%'
    const value = Object.hasOwn(tokens, letter) ? tokens[letter as 'h'] : undefined
    if (value === undefined) return all
    if (PLAIN.test(value)) return value
    throw new CliError(
      'NODE_UNREACHABLE',
      `${label} is reached by a ProxyCommand, which is not given the name ${JSON.stringify(value)}: a shell might read a command in it`,
      {details: {node: label}, hint: 'give the node a HostName and a User of letters and digits in ~/.ssh/config'},
    )
  })
}

/**
 * Starts the command as ssh does, by the user's shell; its stdin and stdout are the connection. `tell` gets its lines on
 * stderr: some ask there for a login in the browser. It is in a session of its own, as a Ctrl-C here must not cut a
 * connection that is still needed to put things in order; it goes when the stream closes.
 */
export function openProxyCommand(command: string, env: NodeJS.ProcessEnv, tell: (line: string) => void): Duplex {
  const child = spawn(env.SHELL || '/bin/sh', ['-c', `exec ${command}`], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const stream = new ChildStream(child)
  let words = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const lines = (words + text).split('\n')
    for (const line of lines.slice(0, -1)) if (line.trim() !== '') tell(line.trim())
    words = lines.slice(-2).join('\n').slice(-MOST_WORDS)
  })
  child.on('error', (error) => stream.destroy(error))
  // `close`: its last words have come
  child.on('close', (status, signal) => {
    const last = words.trim().split('\n').at(-1)
    const how = signal ? `was ended by ${signal}` : `ended with status ${status}`
    const error = new Error(`its ProxyCommand ${how}${last ? `: ${last}` : ''}`)
    stream.destroy(status === NOT_FOUND ? Object.assign(error, {code: 'ENOENT'}) : error)
  })
  return stream
}

/** What a child reads and writes. Closed, it ends the child, and all that it has started. */
class ChildStream extends Duplex {
  readonly #child: ChildProcessWithoutNullStreams

  constructor(child: ChildProcessWithoutNullStreams) {
    super()
    this.#child = child
    child.stdout.on('data', (data: Buffer) => {
      if (!this.push(data)) child.stdout.pause()
    })
    child.stdin.on('error', () => {}) // why it reads no more is told when it has ended
    this.on('error', () => {}) // it may end before somebody listens, who looks at `errored`
  }

  override _read(): void {
    this.#child.stdout.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#child.stdin.write(chunk, () => done())
  }

  override _final(done: () => void): void {
    this.#child.stdin.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const {pid, exitCode, signalCode} = this.#child
    try {
      if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGHUP')
    } catch {
      // it has ended in this moment
    }
    done(error)
  }
}
