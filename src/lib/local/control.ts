import {createConnection, createServer, type Server} from 'node:net'
import {rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {DaemonState, LocalNode} from './types.ts'

/** What the commands may ask of the background process, one JSON line each. */
export type ControlRequest = {ask: 'state'} | {ask: 'nodes'; nodes: LocalNode[]; maxSessions: number} | {ask: 'stop'}

const MAX_SOCKET_PATH = 100
const MAX_REQUEST = 1_000_000

/** A Unix socket in the rack's folder, or in the folder for temporary files where that path would be too long. */
export function controlPath(folder: string, id: string): string {
  const own = join(folder, 'control')
  return own.length <= MAX_SOCKET_PATH ? own : join(tmpdir(), `flexrack-${id}`)
}

/** Asks the background process. Undefined: nobody is there. Throws what it answered with, as an Error. */
export function askDaemon(path: string, request: ControlRequest, timeoutMs = 30_000): Promise<DaemonState | undefined> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = createConnection(path)
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`the local rack's process did not answer within ${timeoutMs / 1000} s`)))
    socket.on('connect', () => socket.end(`${JSON.stringify(request)}\n`))
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '')) resolve(undefined) // the last two: killed just now
      else reject(error)
    })
    socket.on('close', () => {
      if (!answer.endsWith('\n')) return resolve(undefined) // it ended while we asked
      const value = JSON.parse(answer) as {state?: DaemonState; error?: string}
      if (value.error) reject(new Error(value.error))
      else resolve(value.state)
    })
  })
}

/** Answers askDaemon; `answer` may take its time. The socket is only for its owner (0600). */
export async function serveControl(path: string, answer: (request: ControlRequest) => Promise<DaemonState>): Promise<Server> {
  await rm(path, {force: true})
  const server = createServer({allowHalfOpen: true}, (socket) => {
    let asked = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      asked += chunk.toString()
      if (asked.length > MAX_REQUEST) socket.destroy()
    })
    socket.on('end', () => {
      Promise.resolve()
        .then(() => answer(JSON.parse(asked) as ControlRequest))
        .then(
          (state) => socket.end(`${JSON.stringify({state})}\n`),
          (error: Error) => socket.end(`${JSON.stringify({error: error.message})}\n`),
        )
    })
  })
  const mask = process.umask(0o177)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, resolve)
    })
  } finally {
    process.umask(mask)
  }
  return server
}
