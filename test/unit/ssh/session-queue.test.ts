import {EventEmitter} from 'node:events'
import type {ClientChannel} from 'ssh2'
import {describe, expect, it} from 'vitest'
import {CliError, makeContext} from '../../../src/lib/base/index.ts'
import {SessionQueue} from '../../../src/lib/ssh/session-queue.ts'

/** A server that allows so many sessions and answers a moment later. */
class Server {
  readonly limit: number
  open = 0
  most = 0
  requested = 0
  readonly channels: EventEmitter[] = []

  constructor(limit: number) {
    this.limit = limit
  }

  request = async (): Promise<ClientChannel> => {
    this.requested++
    const allowed = this.open < this.limit
    if (allowed) this.open++
    this.most = Math.max(this.most, this.open)
    await Promise.resolve()
    if (!allowed) throw Object.assign(new Error('open failed'), {reason: 2})
    const channel = new EventEmitter()
    this.channels.push(channel)
    return channel as unknown as ClientChannel
  }

  close(): void {
    this.open--
    this.channels.shift()?.emit('close')
  }
}

describe('SessionQueue', () => {
  it('learns the limit from a refusal and serves everybody in the end', async () => {
    const server = new Server(2)
    const queue = new SessionQueue('n', makeContext())
    let served = 0
    const all = Promise.all(Array.from({length: 20}, () => queue.run(server.request).then(() => served++)))
    for (let turn = 0; served < 20 && turn < 1000; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (server.channels.length > 0) server.close()
    }
    await all
    expect(served).toBe(20)
    expect(server.most).toBe(2)
    expect(server.requested).toBeLessThan(20 + 10)
  })

  it('gives up on a server that allows no session at all', async () => {
    const queue = new SessionQueue('n', makeContext())
    await expect(queue.run(new Server(0).request)).rejects.toMatchObject({code: 'REFUSED'})
  })

  it('lets somebody who waits go when aborted, and fails all when the connection is lost', async () => {
    const server = new Server(10)
    const queue = new SessionQueue('n', makeContext())
    await Promise.all(Array.from({length: 10}, () => queue.run(server.request)))
    const stop = new AbortController()
    const aborted = queue.run(server.request, stop.signal)
    const lost = queue.run(server.request)
    await Promise.resolve()
    stop.abort()
    await expect(aborted).rejects.toMatchObject({code: 'INTERRUPTED'})
    queue.fail(new CliError('NODE_UNREACHABLE', 'gone'))
    await expect(lost).rejects.toMatchObject({code: 'NODE_UNREACHABLE'})
  })
})
