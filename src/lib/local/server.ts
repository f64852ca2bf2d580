import {timingSafeEqual} from 'node:crypto'
import {createServer, type Server, type Socket} from 'node:net'
import ssh2 from 'ssh2'
import type {AuthContext, ClientInfo, Connection, PublicKeyAuthContext} from 'ssh2'
import {serveSession, type SessionSettings} from './session.ts'
import {serveTunnels} from './tunnel.ts'

export interface NodeServerSettings extends SessionSettings {
  name: string
  /** Port to listen on; another one is taken if it is not free. */
  port: number
  /** OpenSSH private key. */
  hostKey: string
  /** The one public key that may log in: `ssh-ed25519 AAAA...`. */
  allowedKey: string
  /** The one user there is. */
  user: string
  /** As sshd's MaxSessions, for one connection; asked for each session. */
  maxSessions: () => number
}

export interface NodeServer {
  port: number
  connections(): number
  /** Ends listening and every connection; processes go on. */
  close(): Promise<void>
}

const LOGIN_GRACE_MS = 30_000
const MAX_CONNECTIONS = 256
const MAX_AUTH_TRIES = 6

/** One SSH server on 127.0.0.1, answering for one node of the local rack. */
export async function startNodeServer(settings: NodeServerSettings): Promise<NodeServer> {
  const ssh = new ssh2.Server({hostKeys: [settings.hostKey], ident: 'flexrack'})
  const sockets = new Set<Socket>()
  const graces = new Map<number, NodeJS.Timeout>()
  const listener = createServer({noDelay: true}, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    // Also covers a client that connects and never says a word.
    const from = socket.remotePort ?? 0
    graces.set(
      from,
      setTimeout(() => socket.destroy(), LOGIN_GRACE_MS),
    )
    socket.once('close', () => {
      clearTimeout(graces.get(from))
      graces.delete(from)
    })
    ssh.injectSocket(socket)
  })
  listener.maxConnections = MAX_CONNECTIONS
  const port = await listen(listener, settings.port)
  ssh.on('connection', (connection, info) => {
    connection.on('ready', () => clearTimeout(graces.get(info.port)))
    serveConnection(connection, info, {...settings, port})
  })
  return {
    port,
    connections: () => sockets.size,
    close: async () => {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function serveConnection(connection: Connection, info: ClientInfo, settings: NodeServerSettings): void {
  let tries = 0
  let sessions = 0
  const ends = new Set<() => void>()
  const own: SessionSettings = {
    ...settings,
    env: {
      ...settings.env,
      SSH_CLIENT: `${info.ip} ${info.port} ${settings.port}`,
      SSH_CONNECTION: `${info.ip} ${info.port} 127.0.0.1 ${settings.port}`,
    },
  }
  connection.on('error', (error: Error) => settings.log(`connection: ${error.message}`))
  connection.on('authentication', (auth) => {
    if (auth.username === settings.user && isAllowed(auth, settings.allowedKey)) return auth.accept()
    if (auth.method !== 'none' && ++tries >= MAX_AUTH_TRIES) connection.end()
    if (auth.method !== 'none') settings.log(`refused ${auth.method} for ${JSON.stringify(auth.username)}`)
    auth.reject(['publickey'])
  })
  connection.on('ready', () => serveTunnels(connection, settings.log))
  connection.on('session', (accept, reject) => {
    if (sessions >= settings.maxSessions()) return reject()
    sessions += 1
    const session = accept()
    const end = serveSession(session, own)
    ends.add(end)
    session.on('close', () => {
      sessions -= 1
      ends.delete(end)
    })
  })
  connection.on('close', () => {
    for (const end of ends) end()
    ends.clear()
  })
}

/** Only the generated key, compared in constant time; where the client proves that it has it, the proof must hold. */
function isAllowed(auth: AuthContext, allowedKey: string): auth is PublicKeyAuthContext {
  if (auth.method !== 'publickey') return false
  const key = ssh2.utils.parseKey(allowedKey)
  if (key instanceof Error) return false
  const expected = key.getPublicSSH()
  const offered = auth.key.data
  if (auth.key.algo !== key.type || offered.length !== expected.length || !timingSafeEqual(offered, expected))
    return false
  if (!auth.signature) return true // only asks whether this key would do; not a login
  return auth.blob !== undefined && key.verify(auth.blob, auth.signature, auth.hashAlgo) === true
}

async function listen(server: Server, wanted: number): Promise<number> {
  for (const port of wanted === 0 ? [0] : [wanted, 0]) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen({host: '127.0.0.1', port, exclusive: true}, () => {
          server.removeListener('error', reject)
          resolve()
        })
      })
      break
    } catch (error) {
      server.removeAllListeners('error')
      if (port === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
  server.on('error', () => {})
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
