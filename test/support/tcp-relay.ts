import {once} from 'node:events'
import {connect, createServer, type AddressInfo, type Socket} from 'node:net'

/** A TCP relay to cut connections with, as a pulled cable or a rebooting router would. */
export interface TcpRelay {
  port: number
  /** Connections made through it so far. */
  connections(): number
  /** Destroys every connection; new ones are let through again. */
  cut(): void
  /** Keeps every connection open and lets nothing through any more: a link that died without a word. */
  freeze(): void
  /** Resolves when so many bytes went to the server since the start. */
  passed(bytes: number): Promise<void>
  stop(): Promise<void>
}

export async function startTcpRelay(targetPort: number): Promise<TcpRelay> {
  const sockets = new Set<Socket>()
  let connections = 0
  let bytes = 0
  const waiting: {bytes: number; resolve: () => void}[] = []
  const server = createServer((near) => {
    connections++
    const far = connect(targetPort, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      for (const one of waiting) if (bytes >= one.bytes) one.resolve()
    })
    near.pipe(far)
    far.pipe(near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    cut,
    freeze() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    passed: (count) => new Promise((resolve) => (bytes >= count ? resolve() : waiting.push({bytes: count, resolve}))),
    async stop() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
