import {connect, createServer, type AddressInfo, type Socket} from 'node:net'
import type {ClientChannel} from 'ssh2'
import {CliError} from '../base/index.ts'
import type {Connection} from './connection.ts'
import type {Forward} from './types.ts'

interface ForwardInput {
  port?: number
  targetHost?: string
  targetPort: number
}

/** See NodeShell.forwardLocal. The listener goes away with the connection. Throws CONFLICT when the port is taken here. */
export async function forwardLocal(connection: Connection, input: ForwardInput): Promise<Forward> {
  if (connection.lost) throw connection.lost
  const sockets = new Set<Socket>()
  const server = createServer({allowHalfOpen: true, noDelay: true}, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    connection.openTcp(input.targetHost ?? '127.0.0.1', input.targetPort, {host: '127.0.0.1', port: socket.remotePort ?? 0}).then(
      (channel) => join(socket, channel),
      () => socket.resetAndDestroy(), // what a connection to a closed port looks like
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE'
      reject(
        new CliError(taken ? 'CONFLICT' : 'NODE_UNFIT', taken ? `port ${input.port} is taken on this machine` : `cannot listen on port ${input.port ?? 0} of this machine`, {
          details: {port: input.port, reason: error.message},
          hint: 'choose another local port',
          cause: error,
        }),
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
  off = connection.onLost(() => void close())
  return {port, close}
}

/** See NodeShell.forwardRemote. Throws REFUSED when the node does not allow it or the port is taken there. */
export async function forwardRemote(connection: Connection, input: ForwardInput): Promise<Forward> {
  if (connection.lost) throw connection.lost
  const sockets = new Set<Socket>()
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
    const socket = connect({host: input.targetHost ?? '127.0.0.1', port: input.targetPort, allowHalfOpen: true, noDelay: true})
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

/** Both directions, each with its own end and its own back-pressure. A reset on one side closes the other. */
function join(socket: Socket, channel: ClientChannel): void {
  channel.on('error', () => {})
  socket.pipe(channel)
  channel.pipe(socket)
  channel.once('close', () => socket.destroySoon())
  socket.once('close', () => channel.close())
  if (socket.destroyed) channel.close()
}
