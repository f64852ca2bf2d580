import {connect, createServer, type Server, type Socket} from 'node:net'
import type {Connection, ServerChannel} from 'ssh2'

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1'])

/** Forwarding of one connection: to and from ports of this machine's loopback only, and to unix sockets. */
export function serveTunnels(connection: Connection, log: (line: string) => void): void {
  const listeners = new Map<number, Server>()
  connection.on('tcpip', (accept, reject, info) => {
    if (!LOOPBACK.has(info.destIP)) {
      log(`refused a tunnel to ${JSON.stringify(info.destIP)}`)
      return reject()
    }
    const socket = connect({host: info.destIP, port: info.destPort, allowHalfOpen: true, noDelay: true})
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.removeListener('error', reject)
      const channel = accept()
      if (channel) join(channel, socket)
      else socket.destroy()
    })
  })
  connection.on('openssh.streamlocal', (accept, reject, info) => {
    const socket = connect({path: info.socketPath, allowHalfOpen: true})
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.removeListener('error', reject)
      const channel = accept()
      if (channel) join(channel, socket)
      else socket.destroy()
    })
  })
  connection.on('request', (accept, reject, name, info) => {
    if (name === 'tcpip-forward') return void openListener(info.bindAddr, info.bindPort, accept, reject)
    if (name === 'cancel-tcpip-forward') {
      const listener = listeners.get(info.bindPort)
      listeners.delete(info.bindPort)
      listener?.close()
      return void (listener ? accept?.() : reject?.())
    }
    reject?.()
  })
  connection.on('close', () => {
    for (const listener of listeners.values()) listener.close()
    listeners.clear()
  })

  const openListener = (
    address: string,
    port: number,
    accept: ((port?: number) => void) | undefined,
    reject: (() => void) | undefined,
  ): void => {
    // "" and 0.0.0.0 ask for every interface; as with sshd's GatewayPorts no, that means loopback.
    if (address !== '' && address !== '0.0.0.0' && address !== '::' && !LOOPBACK.has(address)) return void reject?.()
    const listener = createServer({allowHalfOpen: true, noDelay: true}, (socket) => {
      socket.on('error', () => {})
      connection.forwardOut(
        address,
        bound(listener),
        socket.remoteAddress ?? '127.0.0.1',
        socket.remotePort ?? 0,
        (error, channel) => {
          if (error) return void socket.destroy()
          join(channel as ServerChannel, socket)
        },
      )
    })
    listener.once('error', () => reject?.())
    listener.listen({host: '127.0.0.1', port, exclusive: true}, () => {
      listeners.set(bound(listener), listener)
      accept?.(bound(listener))
    })
  }
}

function bound(listener: Server): number {
  const address = listener.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** Both ways, each closed on its own: a side that has said all it has may still listen. */
function join(channel: ServerChannel, socket: Socket): void {
  const end = (): void => {
    socket.destroy()
    channel.close()
  }
  let halves = 0
  const half = (): void => {
    halves += 1
    if (halves === 2) channel.close()
  }
  socket.pipe(channel, {end: false})
  channel.pipe(socket)
  socket.on('end', () => {
    channel.eof()
    half()
  })
  channel.on('end', half)
  socket.on('error', end)
  channel.on('error', end)
  channel.on('close', () => socket.destroy())
}
