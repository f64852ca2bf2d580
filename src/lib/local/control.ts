import {createConnection, createServer, type Server} from 'node:net'
import {open, rm} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {CliError} from '../base/index.ts'
import type {DaemonState, LocalNode} from './types.ts'

/** What the commands may ask of the background process, one JSON line each. */
export type ControlRequest = {ask: 'state'} | {ask: 'nodes'; nodes: LocalNode[]; maxSessions: number} | {ask: 'stop'}

/** Bytes of the path in the address of a socket, with room to spare (unix(7): 108, on macOS 104). */
const MAX_SOCKET_PATH = 100
const MAX_REQUEST = 1_000_000

/** A Unix socket in the rack's folder, which is its owner's alone. */
export function controlPath(folder: string): string {
  return join(folder, 'control')
}

/**
 * A path to the same file that fits into a socket's address, for as long as it is not closed: through the open folder,
 * so that nobody else can put something in its place, as they could in a folder for temporary files. Throws
 * LOCAL_FAILED where the system has no such path.
 */
async function shortPath(path: string): Promise<{path: string; close: () => Promise<void>}> {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) return {path, close: () => Promise.resolve()}
  if (process.platform !== 'linux')
    throw new CliError('LOCAL_FAILED', `${path} is too long for a socket`, {
      hint: 'set FLEXRACK_HOME to a shorter path',
    })
  const folder = await open(dirname(path), 'r')
  return {path: `/proc/self/fd/${folder.fd}/${basename(path)}`, close: () => folder.close()}
}

/** Asks the background process. Undefined: nobody is there. Throws what it answered with, as an Error. */
export async function askDaemon(
  path: string,
  request: ControlRequest,
  timeoutMs = 30_000,
): Promise<DaemonState | undefined> {
  const short = await shortPath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!short) return undefined
  try {
    return await ask(short.path, request, timeoutMs)
  } finally {
    await short.close()
  }
}

function ask(path: string, request: ControlRequest, timeoutMs: number): Promise<DaemonState | undefined> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = createConnection(path)
    socket.setTimeout(timeoutMs, () =>
      socket.destroy(new Error(`the local rack's process did not answer within ${timeoutMs / 1000} s`)),
    )
    socket.on('connect', () => socket.end(`${JSON.stringify(request)}\n`))
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // the last two: killed just now
      if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '')) resolve(undefined)
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
export async function serveControl(
  path: string,
  answer: (request: ControlRequest) => Promise<DaemonState>,
): Promise<Server> {
  await rm(path, {force: true})
  const server = createServer({allowHalfOpen: true}, (socket) => {
    let requested = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      requested += chunk.toString()
      if (requested.length > MAX_REQUEST) socket.destroy()
    })
    socket.on('end', () => {
      Promise.resolve()
        .then(() => answer(JSON.parse(requested) as ControlRequest))
        .then(
          (state) => socket.end(`${JSON.stringify({state})}\n`),
          (error: Error) => socket.end(`${JSON.stringify({error: error.message})}\n`),
        )
    })
  })
  const short = await shortPath(path)
  server.once('close', () => void short.close()) // libuv removes the socket by the path that it was given
  const mask = process.umask(0o177)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(short.path, resolve)
    })
  } finally {
    process.umask(mask)
  }
  return server
}
