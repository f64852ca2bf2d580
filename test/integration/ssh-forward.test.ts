import {createHash, randomBytes} from 'node:crypto'
import {once} from 'node:events'
import {connect, createServer, type AddressInfo, type Server, type Socket} from 'node:net'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {openFleet, type Fleet, type NodeShell} from '../../src/lib/ssh/index.ts'
import {freePort, startSshd, type TestSshd} from '../support/sshd.ts'
import {startTcpRelay} from '../support/tcp-relay.ts'

let sshd: TestSshd
let fleet: Fleet
let shell: NodeShell
const servers: Server[] = []

beforeAll(async () => {
  sshd = await startSshd()
  fleet = openFleet([sshd.target('node-1')], makeContext())
  shell = await fleet.shell('node-1')
})
afterAll(async () => {
  await fleet?.close()
  await sshd?.stop()
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listen(answer: (socket: Socket) => void): Promise<number> {
  const server = createServer({allowHalfOpen: true}, (socket) => {
    socket.on('error', () => {})
    answer(socket)
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** The value once it has not changed for a while. */
async function settled(measure: () => number): Promise<number> {
  let value = measure()
  for (let same = 0; same < 20;) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    const now = measure()
    same = now === value ? same + 1 : 0
    value = now
  }
  return value
}

/** Sums up what it is sent until the sender's end, and only then answers: it needs half-closed connections. */
const summing = (socket: Socket): void => {
  const hash = createHash('sha256')
  socket.on('data', (chunk: Buffer) => void hash.update(chunk))
  socket.on('end', () => socket.end(hash.digest('hex')))
}

for (const direction of ['forwardLocal', 'forwardRemote'] as const) {
  describe(direction, () => {
    it('carries many connections at once, whole, with an end of its own for each direction', async () => {
      const forward = await shell[direction]({targetPort: await listen(summing)})
      const sums = await Promise.all(
        Array.from({length: 8}, async () => {
          const data = randomBytes(2_000_000)
          const socket = connect({port: forward.port, host: '127.0.0.1', allowHalfOpen: true})
          socket.end(data)
          return [(await readAll(socket)).toString(), createHash('sha256').update(data).digest('hex')]
        }),
      )
      for (const [got, wanted] of sums) expect(got).toBe(wanted)
      await forward.close()
      const [error] = (await once(connect(forward.port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException]
      expect(error.code).toBe('ECONNREFUSED')
    })

    it('closes a connection whose target refuses it', async () => {
      const forward = await shell[direction]({targetPort: await freePort()})
      const socket = connect(forward.port, '127.0.0.1')
      socket.on('error', () => {})
      await new Promise((resolve) => socket.once('close', resolve))
      await forward.close()
    })

    it('holds a sender back while the receiver does not read', async () => {
      let held: Socket | undefined
      const forward = await shell[direction]({targetPort: await listen((socket) => (held = socket.pause()))})
      const socket = connect(forward.port, '127.0.0.1')
      const all = randomBytes(60_000_000)
      for (let at = 0; at < all.length; at += 1_000_000) socket.write(all.subarray(at, at + 1_000_000))
      socket.end()
      // What is on the way fits in windows and buffers; when those are full, nothing moves any more.
      const waitsToBeSent = await settled(() => socket.writableLength)
      expect(waitsToBeSent).toBeGreaterThan(0)
      expect((await readAll((held as Socket | undefined)?.resume() as Socket)).equals(all)).toBe(true)
      socket.destroy()
      await forward.close()
    })
  })
}

describe('forwardLocal', () => {
  it('leads to a unix socket of the node as well, and a connection is reset where nobody listens', async () => {
    const path = join(sshd.folder, 'socket')
    const server = createServer({allowHalfOpen: true}, summing).listen(path)
    servers.push(server)
    await once(server, 'listening')
    const [there, nowhere] = [
      await shell.forwardLocal({targetSocket: path}),
      await shell.forwardLocal({targetSocket: `${path}.other`}),
    ]
    const socket = connect({port: there.port, host: '127.0.0.1', allowHalfOpen: true})
    socket.end('text')
    expect(String(await readAll(socket))).toBe(createHash('sha256').update('text').digest('hex'))
    await expect(readAll(connect(nowhere.port, '127.0.0.1'))).rejects.toThrow('ECONNRESET')
    await Promise.all([there.close(), nowhere.close()])
  })

  it('names the port that is taken here', async () => {
    const taken = await listen(() => {})
    await expect(shell.forwardLocal({port: taken, targetPort: 1})).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(String(taken)),
    })
  })

  it('gives its port free when the connection is lost, so that the next one can have it', async () => {
    const relay = await startTcpRelay(sshd.port)
    const other = openFleet([sshd.target('far', {port: relay.port})], makeContext(), {trustNew: true})
    const targetPort = await listen((socket) => void socket.end('hello'))
    try {
      const first = await other.shell('far')
      const {port} = await first.forwardLocal({targetPort})
      relay.cut()
      await first.closed
      const again = await (await other.shell('far')).forwardLocal({port, targetPort})
      expect(again.port).toBe(port)
      expect((await readAll(connect(port, '127.0.0.1'))).toString()).toBe('hello')
    } finally {
      await other.close()
      await relay.stop()
    }
  })
})

describe('forwardRemote', () => {
  it('that the server forbids is refused with the reason', async () => {
    const strict = await startSshd({config: 'AllowTcpForwarding no'})
    const other = openFleet([strict.target('strict')], makeContext())
    try {
      await expect((await other.shell('strict')).forwardRemote({targetPort: 1})).rejects.toMatchObject({
        code: 'REFUSED',
        hint: expect.stringContaining('AllowTcpForwarding'),
      })
    } finally {
      await other.close()
      await strict.stop()
    }
  })
})
