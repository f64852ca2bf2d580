import type {PseudoTtyInfo, ServerChannel, Session} from 'ssh2'
import {ChannelOutput} from './output.ts'
import type {PipePool} from './pipes.ts'
import {startProcess, startTerminal, type NodeProcess, type TerminalSize} from './process.ts'

/** What the sessions of one node have in common. */
export interface SessionSettings {
  home: string
  shell: string
  /** Whole environment of the node, without what the client asks for. */
  env: Record<string, string>
  python: string | undefined
  pipes: PipePool
  log: (line: string) => void
  /** Told of the process group of everything that is started. */
  started: (group: number) => void
}

/** As Debian's sshd_config has it. */
const ACCEPTED_ENV = /^(LANG|LC_[A-Z_]+)$/

/** Answers one session channel the way sshd does. Returns what to call when the connection is gone. */
export function serveSession(session: Session, settings: SessionSettings): () => void {
  const requested: Record<string, string> = {}
  let size: (TerminalSize & {term: string}) | undefined
  let running: NodeProcess | undefined
  let gone = false
  const early: string[] = []
  const end = (): void => {
    gone = true
    running?.hangUp()
  }
  const start = async (channel: ServerChannel, command: string | null): Promise<void> => {
    const env = {...settings.env, ...requested, ...(size && {TERM: size.term})}
    try {
      running = size
        ? await startTerminal(command, {...settings, env, size})
        : await startProcess(command, {...settings, env})
    } catch (error) {
      settings.log(`cannot start a process: ${String(error)}`)
      channel.stderr.write(`cannot start a process: ${(error as Error).message}\n`)
      channel.exit(255)
      channel.end()
      return
    }
    settings.started(running.pid)
    if (gone) return running.hangUp()
    for (const name of early) running.signal(name)
    connect(channel, running, (line) => settings.log(line))
  }
  session.on('env', (accept, reject, info) => {
    if (!ACCEPTED_ENV.test(info.key)) return void reject?.()
    requested[info.key] = info.val
    accept?.()
  })
  session.on('pty', (accept, reject, info) => {
    if (!settings.python) return void reject?.()
    size = {...sizeOf(info), term: (info as PseudoTtyInfo & {term?: string}).term || 'xterm'}
    accept?.()
  })
  session.on('window-change', (accept, _reject, info) => {
    if (size) Object.assign(size, sizeOf(info))
    running?.resize(sizeOf(info))
    accept?.()
  })
  session.on('signal', (accept, _reject, info) => {
    if (running) running.signal(info.name)
    else early.push(info.name)
    accept?.()
  })
  session.on('exec', (accept, _reject, info) => void start(accept(), info.command))
  session.on('shell', (accept) => void start(accept(), null))
  // ssh2 refuses signals and resizes after the client's end of input; real servers do not.
  session.on('eof', () => void ((session as unknown as {_ending: boolean})._ending = false))
  session.on('close', end)
  return end
}

function connect(channel: ServerChannel, process: NodeProcess, log: (line: string) => void): void {
  const output = new ChannelOutput(channel)
  const sent = Promise.all([
    output.send(process.stdout, 'stdout'),
    ...(process.stderr ? [output.send(process.stderr, 'stderr')] : []),
  ])
  channel.on('error', (error: Error) => log(`channel: ${error.message}`))
  channel.pipe(process.stdin, {end: !process.terminal})
  process.stdin.on('error', () => {
    // The program does not read any more: take what the client still sends, and drop it.
    channel.unpipe(process.stdin)
    channel.resume()
  })
  void process.exit.then(async ({status, signal}) => {
    const reported = tellExit(channel, status, signal)
    await sent
    if (!reported) tellExit(channel, status, signal)
    channel.end()
    channel.resume()
  })
}

function tellExit(channel: ServerChannel, status: number | null, signal: string | null): boolean {
  if (!channel.writable) return false
  try {
    if (signal) channel.exit(signal, false, '')
    else channel.exit(status ?? 255)
  } catch {
    channel.exit(255) // a signal that SSH has no name for
  }
  return true
}

function sizeOf(info: {rows: number; cols: number}): TerminalSize {
  return {rows: info.rows || 24, columns: info.cols || 80}
}
