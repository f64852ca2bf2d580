import {spawn} from 'node:child_process'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'

export interface RelayEvent {
  event: string
  message: string
  replayed?: number
}

export interface TestRelay {
  uri: string
  pid: number
  events: RelayEvent[]
  /** Resolves when an event of this kind was told. */
  seen(kind: string): Promise<RelayEvent>
  /** Drains and ends it. */
  close(): Promise<{pending: number; rejected: number}>
  kill(): Promise<void>
}

/** The relay of a run, in a process of its own with this machine's Python, as on a node. */
export async function startRelay(input: {
  spool: string
  upstream: string
  caFile?: string
  token: string
  runId: string
}): Promise<TestRelay> {
  const script = fileURLToPath(new URL('../fixtures/tracking/relay_process.py', import.meta.url))
  const child = spawn(
    'python3',
    [script, input.spool, input.upstream, input.runId, ...(input.caFile === undefined ? [] : [input.caFile])],
    {stdio: ['pipe', 'pipe', 'inherit']},
  )
  child.stdin.write(`${input.token}\n`)
  const events: RelayEvent[] = []
  const listeners = new Set<() => void>()
  let port = 0
  let closed: {pending: number; rejected: number} | undefined
  createInterface({input: child.stdout}).on('line', (line) => {
    const value = JSON.parse(line) as RelayEvent & {port?: number; closed?: {pending: number; rejected: number}}
    if (value.port !== undefined) port = value.port
    else if (value.closed) closed = value.closed
    else events.push(value)
    for (const listener of listeners) listener()
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!condition()) return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      look()
      void ended.then(() => (condition() ? resolve() : reject(new Error('the relay has ended'))))
    })
  await until(() => port > 0)
  return {
    uri: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    events,
    async seen(kind) {
      await until(() => events.some((one) => one.event === kind))
      return events.find((one) => one.event === kind)!
    },
    async close() {
      child.stdin.end()
      await ended
      if (!closed) throw new Error('the relay ended without an answer')
      return closed
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
