import {PassThrough} from 'node:stream'
import type {ServerChannel} from 'ssh2'
import {expect, test} from 'vitest'
import {ChannelOutput} from '../../../src/lib/local/output.ts'

interface FakeChannel {
  outgoing: {window: number; state: string}
  _waitWindow: boolean
  _chunkcb?: () => void
  write(chunk: Buffer): boolean
  stderr: {write(chunk: Buffer): boolean}
  sent: {to: 'stdout' | 'stderr'; bytes: number}[]
}

/** The other side of the wire: takes what fits into the window, and refuses, loudly, what does not. */
function fakeChannel(window: number): FakeChannel {
  const take =
    (to: 'stdout' | 'stderr') =>
    (chunk: Buffer): boolean => {
      if (chunk.length > channel.outgoing.window) throw new Error('more than the window')
      channel.outgoing.window -= chunk.length
      channel.sent.push({to, bytes: chunk.length})
      return true
    }
  const channel: FakeChannel = {
    outgoing: {window, state: 'open'},
    _waitWindow: false,
    write: take('stdout'),
    stderr: {write: take('stderr')},
    sent: [],
  }
  return channel
}

/** What ssh2 does when the client gives more room. */
function adjust(channel: FakeChannel, bytes: number): void {
  channel.outgoing.window += bytes
  if (channel._waitWindow) {
    channel._waitWindow = false
    channel._chunkcb?.()
  }
}

test('both outputs share the window, and every byte of both arrives once', async () => {
  const channel = fakeChannel(10)
  const output = new ChannelOutput(channel as unknown as ServerChannel)
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  let done = false
  const sent = Promise.all([output.send(stdout, 'stdout'), output.send(stderr, 'stderr')]).then(() => (done = true))
  stdout.end(Buffer.alloc(1000))
  stderr.end(Buffer.alloc(1000))
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve))
    adjust(channel, 37)
  }
  await sent
  const total = (to: string): number =>
    channel.sent.filter((one) => one.to === to).reduce((sum, one) => sum + one.bytes, 0)
  expect([total('stdout'), total('stderr')]).toEqual([1000, 1000])
})

test('a channel that was closed takes nothing more and holds nobody up', async () => {
  const channel = fakeChannel(100)
  channel.outgoing.state = 'closed'
  const stdout = new PassThrough()
  const sent = new ChannelOutput(channel as unknown as ServerChannel).send(stdout, 'stdout')
  stdout.write('late')
  await sent
  expect(channel.sent).toEqual([])
})

test('a source that is destroyed is the end of its output', async () => {
  const stdout = new PassThrough()
  const sent = new ChannelOutput(fakeChannel(100) as unknown as ServerChannel).send(stdout, 'stdout')
  stdout.destroy()
  await expect(sent).resolves.toBeUndefined()
})
