import {connect, createServer, type AddressInfo, type Socket} from 'node:net'
import type {Duplex} from 'node:stream'
import {connect as connectSecurely, type TLSSocket} from 'node:tls'
import type {ClientChannel} from 'ssh2'
import {CliError} from '../base/index.ts'
import type {Connection} from './connection.ts'
import type {Forward, ForwardInput, Pinned, RemoteForwardInput} from './types.ts'

const PROOF_MS = 10_000

/**
 * See NodeShell.forwardLocal. The listener goes away with the connection, but for one that is pinned. Throws CONFLICT
 * when the port is taken here.
 */
export async function forwardLocal(connection: Connection, input: ForwardInput): Promise<Forward> {
  if (connection.lost) throw connection.lost
  const sockets = new Set<Socket>()
  const server = createServer({allowHalfOpen: true, noDelay: true}, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    const opened =
      'targetSocket' in input
        ? connection.openUnix(input.targetSocket)
        : connection.openTcp(input.targetHost ?? '127.0.0.1', input.targetPort, {
            host: '127.0.0.1',
            port: socket.remotePort ?? 0,
          })
    opened
      .then((channel): Duplex | Promise<Duplex> => (input.pinned ? secured(channel, input.pinned) : channel))
      .then(
        (far) => join(socket, far),
        () => socket.resetAndDestroy(), // what a connection to a closed port looks like
      )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE'
      reject(
        new CliError(
          taken ? 'CONFLICT' : 'NODE_UNFIT',
          taken
            ? `port ${input.port} is taken on this machine`
            : `cannot listen on port ${input.port ?? 0} of this machine`,
          {
            details: {port: input.port, reason: error.message},
            hint: 'choose another local port',
            cause: error,
          },
        ),
      )
    })
    server.listen(input.port ?? 0, '127.0.0.1', resolve)
  })
  server.on('error', () => {})
  let off = (): void => {}
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      off()
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  const {port} = server.address() as AddressInfo
  const lost = (): void => {
    // The port stays ours until whoever has it closes it: its user would tell the next one there what was meant for the
    // node.
    for (const socket of sockets) socket.destroy()
    server.unref()
  }
  off = connection.onLost(input.pinned ? lost : () => void close())
  return {port, close}
}

/** See NodeShell.forwardRemote. Throws REFUSED when the node does not allow it or the port is taken there. */
export async function forwardRemote(connection: Connection, input: RemoteForwardInput): Promise<Forward> {
  if (connection.lost) throw connection.lost
  const sockets = new Set<Socket>()
  const taken = new Set<ClientChannel>()
  const port = await new Promise<number>((resolve, reject) => {
    const off = connection.onLost(reject)
    connection.client.forwardIn('127.0.0.1', input.port ?? 0, (error, realPort) => {
      off()
      if (!error) return resolve(realPort)
      reject(
        connection.lost ??
          new CliError('REFUSED', `${connection.node} does not let us listen on its port ${input.port ?? 0}`, {
            details: {node: connection.node, port: input.port ?? 0, reason: error.message},
            hint: `see whether the port is free there, and that its sshd_config has "AllowTcpForwarding yes"`,
            cause: error,
          }),
      )
    })
  })
  const onConnection = (details: {destPort: number}, accept: () => ClientChannel, reject: () => void): void => {
    if (details.destPort !== port) return
    if ('take' in input) {
      const stream = accept()
      taken.add(stream)
      stream.once('close', () => taken.delete(stream))
      stream.on('error', () => {})
      return input.take(stream)
    }
    const socket = connect({
      host: input.targetHost ?? '127.0.0.1',
      port: input.targetPort,
      allowHalfOpen: true,
      noDelay: true,
    })
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', () => {})
      join(socket, accept())
    })
  }
  connection.client.on('tcp connection', onConnection)
  let off = (): void => {}
  const close = async (): Promise<void> => {
    off()
    connection.client.off('tcp connection', onConnection)
    for (const socket of sockets) socket.destroy()
    for (const stream of taken) stream.close()
    if (connection.lost) return
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stopWaiting()
        resolve()
      }
      const stopWaiting = connection.onLost(resolve as () => void)
      try {
        connection.client.unforwardIn('127.0.0.1', port, done)
      } catch {
        done()
      }
    })
  }
  off = connection.onLost(() => void close())
  return {port, close}
}

/** TLS inside the channel, with who has proved to be the one that is meant; nothing was sent before. */
function secured(channel: ClientChannel, {ca, name, onUntrusted}: Pinned): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    channel.on('error', () => {})
    const far = connectSecurely({socket: channel, ca, servername: name}, () => {
      far.setTimeout(0)
      resolve(far)
    })
    far.setTimeout(PROOF_MS, () => far.destroy(new Error(`no proof in ${PROOF_MS / 1000} s`)))
    far.once('error', (error: NodeJS.ErrnoException) => {
      channel.close()
      if (isUntrusted(error)) onUntrusted(error)
      reject(error)
    })
    far.once('close', () => {
      channel.close()
      reject(new Error('closed'))
    })
  })
}

/** A certificate of somebody else, or an answer that is no TLS; not one that just went away. */
function isUntrusted({code, message}: NodeJS.ErrnoException): boolean {
  return code !== 'ECONNRESET' && code !== 'EPIPE' && !message.includes('socket hang up')
}

/** Both directions, each with its own end and its own back-pressure. A reset on one side closes the other. */
function join(socket: Socket, far: Duplex): void {
  far.on('error', () => {})
  socket.pipe(far)
  far.pipe(socket)
  far.once('close', () => socket.destroySoon())
  socket.once('close', () => end(far))
  if (socket.destroyed) end(far)
}

/** An SSH channel is closed; to destroy it would leave the other side waiting. */
function end(far: Duplex): void {
  if ('close' in far && typeof far.close === 'function') far.close()
  else far.destroy()
}
