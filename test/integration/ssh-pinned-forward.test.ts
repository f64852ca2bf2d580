import {connect, createServer} from 'node:net'
import {expect, test} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {openFleet} from '../../src/lib/ssh/index.ts'
import {startSshd} from '../support/sshd.ts'

/** What becomes of a connection to a port here: `refused` where nobody listens. */
function knock(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'cut'))
    socket.on('close', () => resolve('cut'))
  })
}

test('a port here that leads to one that is pinned stays ours when the connection is lost: its next owner would be told what was meant for the node', async () => {
  const sshd = await startSshd()
  const node = {...sshd.target('node'), root: '~/node', labels: {}}
  const fleet = openFleet([node], makeContext({env: process.env}))
  try {
    const shell = await fleet.shell('node')
    const {port, close} = await shell.forwardLocal({
      targetPort: 9,
      pinned: {ca: '', name: 'nobody', onUntrusted: () => {}},
    })
    const other = await shell.forwardLocal({targetPort: 9})
    await sshd.stop()
    await shell.closed
    expect(await knock(other.port)).toBe('refused')
    expect(await knock(port)).toBe('cut')
    const squatter = createServer()
    const taken = await new Promise((resolve) =>
      squatter
        .once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
        .listen(port, '127.0.0.1', () => resolve('it is theirs')),
    )
    expect(taken).toBe('EADDRINUSE')
    await close()
    expect(await knock(port)).toBe('refused')
  } finally {
    await fleet.close()
    await sshd.stop()
  }
})
