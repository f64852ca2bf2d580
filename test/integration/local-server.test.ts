import {execFile, spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {createServer, connect, type AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {text} from 'node:stream/consumers'
import ssh2 from 'ssh2'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {localUp} from '../../src/lib/local/index.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'

let local: TestLocalRack
beforeAll(async () => {
  local = await startLocalRack({nodes: 2})
})
afterAll(() => local.stop())

interface Ended {
  status: number | null
  stdout: Buffer
  stderr: string
}

/** Runs a command by a plain ssh2 client, without any of flexrack's own ssh layer between. */
async function connectRaw(key?: string, user = local.rack.nodes[0]?.user as string): Promise<ssh2.Client> {
  const node = local.rack.nodes[0]
  const client = new ssh2.Client()
  const ready = once(client, 'ready')
  client.connect({
    host: '127.0.0.1',
    port: node?.port as number,
    username: user,
    privateKey: key ?? (await readFile(node?.identityFile as string)),
  })
  await ready
  return client
}

function execRaw(client: ssh2.Client, command: string, options: ssh2.ExecOptions = {}): Promise<ssh2.ClientChannel> {
  return new Promise((resolve, reject) =>
    client.exec(command, options, (error, channel) => (error ? reject(error) : resolve(channel))),
  )
}

describe('a session', () => {
  test('separates the outputs, tells the status, and runs in a session of its own with the umask of a server', async () => {
    const shell = await local.shell('node-1')
    const result = await shell.exec('echo out; echo err >&2; umask; exit 7')
    expect(result).toEqual({status: 7, signal: null, stdout: 'out\n0022\n', stderr: 'err\n'})
    const [pid, session] = (await shell.run('echo $$; cut -d" " -f6 /proc/$$/stat')).trim().split('\n')
    expect(session).toBe(pid)
  })

  test('tells the signal that ended it', async () => {
    expect(await (await local.shell('node-1')).exec('kill -USR1 $$')).toMatchObject({status: null, signal: 'USR1'})
  })

  test('has pipes that can be opened by name', async () => {
    expect(await (await local.shell('node-1')).exec('echo a | tee /dev/stderr; echo b >/dev/stdout')).toMatchObject({
      stdout: 'a\nb\n',
      stderr: 'a\n',
    })
  })

  test('carries bytes both ways unchanged, held back by a slow reader', async () => {
    const data = Buffer.alloc(20_000_000, 'flexrack')
    const client = await connectRaw()
    const channel = await execRaw(client, 'cat')
    channel.end(data)
    const chunks: Buffer[] = []
    for await (const chunk of channel as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      if (chunks.length % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    expect(Buffer.concat(chunks).equals(data)).toBe(true)
    client.end()
  })

  test('fills stdout and stderr beyond the window at once and loses nothing', async () => {
    const script = 'head -c 9000000 /dev/zero & head -c 8000000 /dev/zero >&2; wait'
    const result = await (await local.shell('node-1')).exec(script)
    expect([result.stdout.length, result.stderr.length]).toEqual([9_000_000, 8_000_000])
  })

  test('delivers signals, also after the end of input', async () => {
    const client = await connectRaw()
    const channel = await execRaw(client, "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.05; done")
    await once(channel, 'data')
    channel.end()
    await new Promise((resolve) => setImmediate(resolve))
    const output = text(channel)
    // The client's own signal() says nothing once the input has ended.
    const inside = channel as unknown as {
      _client: {_protocol: {signal(id: number, name: string): void}}
      outgoing: {id: number}
    }
    inside._client._protocol.signal(inside.outgoing.id, 'TERM')
    const [status] = (await once(channel, 'exit')) as [number]
    expect([status, await output]).toEqual([3, 'caught\n'])
    client.end()
  })

  test('without a terminal goes on when the connection is lost, as with sshd', async () => {
    const client = await connectRaw()
    const channel = await execRaw(client, 'echo $$; cat; exec sleep 100418')
    const [pid] = (await once(channel, 'data')) as [Buffer]
    client.destroy()
    // Its input has ended, so cat is over; but nobody has hung up.
    const command = (): Promise<string> =>
      readFile(`/proc/${pid.toString().trim()}/cmdline`, 'utf8').catch(() => 'gone')
    await expect.poll(command).toBe('sleep\x00100418\x00')
    process.kill(Number(pid))
  })

  test('takes LANG and LC_ from the client and nothing else', async () => {
    const client = await connectRaw()
    const channel = await execRaw(client, 'echo "$LC_TIME $LD_PRELOAD $FOO"', {
      env: {LC_TIME: 'C', LD_PRELOAD: 'x', FOO: 'y'},
    } as ssh2.ExecOptions)
    expect((await text(channel)).trim()).toBe('C')
    client.end()
  })

  test('over the limit is refused while the others go on', async () => {
    await localUp({nodes: 2, maxSessions: 2}, local.context())
    const client = await connectRaw()
    const open = await Promise.all([execRaw(client, 'cat'), execRaw(client, 'cat')])
    await expect(execRaw(client, 'true')).rejects.toThrow(/open failure/)
    for (const channel of open) channel.end('still\n')
    expect(await Promise.all(open.map((channel) => text(channel)))).toEqual(['still\n', 'still\n'])
    client.end()
    await localUp({nodes: 2, maxSessions: 64}, local.context())
  })

  test('of forty at once, each gets its own answer', async () => {
    const shell = await local.shell('node-2')
    const answers = await Promise.all(Array.from({length: 40}, (_, index) => shell.run(`echo ${index}`)))
    expect(answers).toEqual(Array.from({length: 40}, (_, index) => `${index}\n`))
  })
})

describe('a terminal', () => {
  test('has the size that was asked for and follows when it changes', async () => {
    const terminal = await (
      await local.shell('node-1')
    ).terminal("trap 'stty size; exit 4' WINCH; tty; stty size; echo $TERM; while :; do sleep 0.05; done", {
      term: 'xterm-256color',
      rows: 30,
      columns: 100,
    })
    let said = ''
    terminal.stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await expect.poll(() => said).toContain('xterm-256color')
    expect(said).toMatch(/\/dev\/\S+\r\n30 100\r\n/)
    terminal.resize(50, 200)
    expect(await terminal.exit).toEqual({status: 4, signal: null})
    expect(said).toContain('50 200')
  })

  test('stays when its program is stopped and goes on', async () => {
    const client = await connectRaw()
    const channel = await execRaw(client, '(sleep 0.2; kill -CONT $$) & kill -STOP $$; echo went on; exit 6', {
      pty: true,
    })
    const output = text(channel)
    const [status] = (await once(channel, 'exit')) as [number]
    expect([status, await output]).toEqual([6, 'went on\r\n'])
    client.end()
  })

  test('ends with its program, even if others go on writing to it', async () => {
    const client = await connectRaw()
    const channel = await execRaw(client, "trap '' HUP; yes & sleep 0.1; exit 0", {pty: true})
    channel.resume()
    const [status] = (await once(channel, 'exit')) as [number]
    expect(status).toBe(0)
    client.end()
    await expect.poll(async () => (await local.status()).nodes[0]?.processes).toBe(0)
  })

  test('turns Ctrl-C into an interrupt', async () => {
    const terminal = await (
      await local.shell('node-1')
    ).terminal('echo ready; sleep 1000; echo not reached', {term: 'xterm', rows: 24, columns: 80})
    let said = ''
    terminal.stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await expect.poll(() => said).toContain('ready')
    terminal.stream.write('\x03')
    expect((await terminal.exit).status === 130 || (await terminal.exit).signal === 'INT').toBe(true)
    expect(said).not.toContain('not reached')
  })

  test('hangs up what runs on it when the connection is lost', async () => {
    const client = await connectRaw()
    const channel = await execRaw(
      client,
      "trap 'echo hup >~/hung-up; exit' HUP; echo $$; while :; do sleep 0.05; done",
      {pty: true},
    )
    await once(channel, 'data')
    client.destroy()
    const home = join(local.home, 'state/local/nodes/node-1/home')
    await expect.poll(() => existsSync(join(home, 'hung-up'))).toBe(true)
  })

  test('of a login shell takes input and tells its status', async () => {
    const client = await connectRaw()
    const channel = await new Promise<ssh2.ClientChannel>((resolve, reject) =>
      client.shell({term: 'dumb'}, (error, opened) => (error ? reject(error) : resolve(opened))),
    )
    channel.write('echo $FLEXRACK_NODE-$((40+2))\nexit 9\n')
    const output = text(channel)
    const [status] = (await once(channel, 'exit')) as [number]
    expect(status).toBe(9)
    expect(await output).toContain('node-1-42')
    client.end()
  })
})

describe('a tunnel', () => {
  test('reaches loopback from here and back, and lets each side end on its own', async () => {
    // Answers only after the other side has said all it has.
    const echo = createServer(
      {allowHalfOpen: true},
      (socket) => void text(socket).then((said) => socket.end(said.toUpperCase())),
    )
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
    const {port} = echo.address() as AddressInfo
    const shell = await local.shell('node-1')
    for (const forward of [
      await shell.forwardLocal({targetPort: port}),
      await shell.forwardRemote({targetPort: port}),
    ]) {
      const socket = connect({host: '127.0.0.1', port: forward.port, allowHalfOpen: true})
      socket.end('hello')
      expect(await text(socket)).toBe('HELLO')
      await forward.close()
    }
    echo.close()
  })

  test('to another machine is refused', async () => {
    const client = await connectRaw()
    const open = new Promise((resolve, reject) =>
      client.forwardOut('127.0.0.1', 1, '192.0.2.1', 80, (error, channel) =>
        error ? reject(error) : resolve(channel),
      ),
    )
    await expect(open).rejects.toThrow(/open failure/)
    client.end()
  })
})

describe('the login', () => {
  test('stays shut for another key, another user, a password, or nothing, and says so in the log', async () => {
    const other = ssh2.utils.generateKeyPairSync('ecdsa', {bits: 256}).private
    await expect(connectRaw(other)).rejects.toThrow(/authentication/)
    await expect(connectRaw(undefined, 'somebody')).rejects.toThrow(/authentication/)
    const port = local.rack.nodes[0]?.port as number
    const client = new ssh2.Client()
    client.connect({host: '127.0.0.1', port, username: 'root', password: 'root'})
    const [error] = (await once(client, 'error')) as [Error]
    expect(error.message).toMatch(/authentication/)
    expect(await readFile(join(local.home, 'state/local/daemon.log'), 'utf8')).toMatch(
      /node-1: refused publickey for "somebody"/,
    )
  })

  test('survives clients that speak no SSH at all', async () => {
    const port = local.rack.nodes[0]?.port as number
    for (const garbage of ['GET / HTTP/1.0\r\n\r\n', Buffer.alloc(100_000, 0xff), 'SSH-2.0-x\r\n\0\0\0\0garbage']) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(garbage)
      setTimeout(() => socket.destroy(), 50)
      await once(socket, 'close')
    }
    expect(await (await local.shell('node-1')).run('echo alive')).toBe('alive\n')
  })
})

describe.skipIf(!existsSync('/usr/bin/ssh'))("OpenSSH's client", () => {
  let folder: string
  let config: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flexrack-openssh-'))
    config = join(folder, 'config')
    const hosts = local.rack.nodes.map(
      (node) =>
        `Host ${node.name}\n HostName 127.0.0.1\n Port ${node.port}\n User ${node.user}\n IdentityFile ${node.identityFile}\n UserKnownHostsFile ${node.knownHosts}\n StrictHostKeyChecking yes\n BatchMode yes\n`,
    )
    await writeFile(
      config,
      `${hosts.join('')}Host two\n HostName 127.0.0.1\n Port ${local.rack.nodes[1]?.port}\n IdentityFile ${local.rack.nodes[1]?.identityFile}\n UserKnownHostsFile ${local.rack.nodes[1]?.knownHosts}\n ProxyJump node-1\n`,
    )
  })
  afterAll(() => rm(folder, {recursive: true}))

  async function ssh(args: string[], input = ''): Promise<Ended> {
    const child = spawn('ssh', ['-F', config, ...args], {timeout: 30_000})
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    const stderr = text(child.stderr)
    const [status] = (await once(child, 'close')) as [number]
    return {status, stdout: Buffer.concat(chunks), stderr: await stderr}
  }

  test('runs a command with input, outputs and status', async () => {
    const {status, stdout, stderr} = await ssh(['node-1', 'cat; echo $FLEXRACK_NODE; echo err >&2; exit 3'], 'in\n')
    expect([status, stdout.toString(), stderr]).toEqual([3, 'in\nnode-1\n', 'err\n'])
  })

  test('gets a terminal', async () => {
    const {status, stdout} = await ssh(['-tt', 'node-1', 'tty; exit 5'])
    expect(status).toBe(5)
    expect(stdout.toString()).toMatch(/^\/dev\/\S+\r\n$/)
  })

  test('jumps over one node to another', async () => {
    expect((await ssh(['two', 'echo $FLEXRACK_NODE'])).stdout.toString()).toBe('node-2\n')
  })

  test('copies files', async () => {
    const [from, back] = [join(folder, 'from'), join(folder, 'back')]
    await writeFile(from, Buffer.alloc(3_000_000, 'x'))
    const scp = (...args: string[]): Promise<void> =>
      new Promise((resolve, reject) =>
        execFile('scp', ['-O', '-q', '-F', config, ...args], (error) => (error ? reject(error) : resolve())),
      )
    await scp(from, 'node-2:copy')
    await scp('node-2:copy', back)
    expect((await readFile(back)).equals(await readFile(from))).toBe(true)
  })
})
