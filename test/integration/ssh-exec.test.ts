import {createHash, randomBytes} from 'node:crypto'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {Readable} from 'node:stream'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {openFleet, type Fleet, type NodeShell} from '../../src/lib/ssh/index.ts'
import {startTcpRelay} from '../support/tcp-relay.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'

let sshd: TestSshd
let fleet: Fleet
let shell: NodeShell
let temporary: string

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'flexrack-tmp-'))
  sshd = await startSshd({
    env: {TMPDIR: temporary},
    homeFiles: {'.bashrc': 'set -x\necho "Welcome!"; echo "quota: 93% used" >&2; printf "no newline"; set +x\n'},
    config: `Banner ${import.meta.filename}\nMaxSessions 4`,
  })
  fleet = openFleet([sshd.target('node-1')], makeContext())
  shell = await fleet.shell('node-1')
})

afterAll(async () => {
  await fleet?.close()
  await sshd?.stop()
  await rm(temporary, {recursive: true, force: true})
})

describe('exec', () => {
  it('keeps the two outputs apart, gives the exit status, and takes banner and shell start-up noise away', async () => {
    expect(await shell.exec('echo out; echo err >&2; exit 7')).toEqual({
      status: 7,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
    })
    expect(await shell.exec('true')).toEqual({status: 0, signal: null, stdout: '', stderr: ''})
  })

  it('names the signal that ended the command', async () => {
    expect(await shell.exec('kill -TERM $$')).toMatchObject({status: null, signal: 'TERM'})
    expect(await shell.exec('kill -KILL $$')).toMatchObject({status: null, signal: 'KILL'})
  })

  it('takes a script of many lines with every kind of quote, and lets it read its own input', async () => {
    const script = 'a="double \\"q\\" $((1+1))"\ncat <<\'END\'\n\'single\' \\n \\\\ %s ü\nEND\nprintf "%s|" "$a"\ncat\n'
    expect(await shell.run(script, {input: 'line 1\nline 2'})).toBe(
      '\'single\' \\n \\\\ %s ü\ndouble "q" 2|line 1\nline 2',
    )
  })

  it('shows neither environment nor script nor input to `ps` on the node', async () => {
    const secret = `token-${randomBytes(6).toString('hex')}`
    const seen = await shell.run(
      ': "a comment with the word plaintext-script"; [ "$TOKEN" ] && for p in /proc/[0-9]*/cmdline; do tr "\\0" " " <$p; echo; done 2>/dev/null',
      {env: {TOKEN: secret}, input: secret},
    )
    expect(seen).toContain('flexrack-')
    expect(seen).not.toContain(secret)
    expect(seen).not.toContain('plaintext-script')
    expect(await shell.run('printf %s "$A"', {env: {A: 'it\'s $HOME\n\\n `x` "é"'}})).toBe('it\'s $HOME\n\\n `x` "é"')
  })

  it('makes a failed command an error with its last lines only where success was wanted', async () => {
    await expect(shell.run('echo the reason >&2; exit 3')).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
      details: {node: 'node-1', status: 3, stderr: 'the reason'},
    })
  })

  it('ends a command that takes longer than it may, and everything it started', async () => {
    const mark = join(sshd.folder, 'slow.pid')
    await expect(shell.exec(`sleep 300 & echo $! >${mark}; wait`, {timeout: 300})).rejects.toMatchObject({
      code: 'TIMED_OUT',
    })
    await shell.run(`p=$(cat ${mark}); while kill -0 $p 2>/dev/null; do sleep 0.05; done`, {timeout: 10_000})
  })

  it('kills a command that will not go when it is aborted', async () => {
    const stop = new AbortController()
    const mark = join(sshd.folder, 'stubborn.pid')
    const running = shell.exec(`trap "" TERM; echo $$ >${mark}; echo ready; while :; do sleep 0.1; done`, {
      signal: stop.signal,
      onStdout: () => stop.abort(),
    })
    await expect(running).rejects.toMatchObject({code: 'INTERRUPTED'})
    await shell.run(`p=$(cat ${mark}); while kill -0 $p 2>/dev/null; do sleep 0.05; done`, {timeout: 10_000})
  })

  it('queues what goes beyond the MaxSessions of the server', async () => {
    const answers = await Promise.all(Array.from({length: 24}, (_, index) => shell.run(`sleep 0.05; echo ${index}`)))
    expect(answers).toEqual(Array.from({length: 24}, (_, index) => `${index}\n`))
  })

  it('moves 50 MB in each direction whole, at the same time', async () => {
    const data = randomBytes(50_000_000)
    const sum = createHash('sha256').update(data).digest('hex')
    const file = join(sshd.folder, 'down.bin')
    await writeFile(file, data)
    const chunks: Buffer[] = []
    const [up, down] = await Promise.all([
      shell.run('sha256sum', {input: Readable.from(pieces(data))}),
      (async () => {
        const process = await shell.spawn(`cat ${file}`)
        for await (const chunk of process.stdout) chunks.push(chunk as Buffer)
        return process.exit
      })(),
    ])
    expect(up).toBe(`${sum}  -\n`)
    expect(down).toEqual({status: 0, signal: null})
    expect(createHash('sha256').update(Buffer.concat(chunks)).digest('hex')).toBe(sum)
  })

  it('does not wait for a command that stops reading its input', async () => {
    expect(await shell.exec('head -c 3; exit 5', {input: randomBytes(20_000_000).toString('hex')})).toMatchObject({
      status: 5,
    })
  })

  it('holds a fast writer back while nobody reads', async () => {
    const process = await shell.spawn('head -c 100000000 /dev/zero')
    const other = await shell.run('echo still here')
    expect(other).toBe('still here\n')
    let bytes = 0
    for await (const chunk of process.stdout) bytes += (chunk as Buffer).length
    expect(bytes).toBe(100_000_000)
  })

  it('passes a signal on to a running process', async () => {
    const process = await shell.spawn('trap "echo got it; exit 9" USR1; echo ready; while :; do sleep 0.05; done')
    let text = ''
    process.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text === 'ready\n') process.kill('USR1')
    })
    expect(await process.exit).toEqual({status: 9, signal: null})
  })
})

describe('a login shell that runs nothing', () => {
  it('is told with what it said instead', async () => {
    const strange = await startSshd({config: 'ForceCommand echo this account is closed; exit 1'})
    const other = openFleet([strange.target('closed')], makeContext())
    try {
      await expect((await other.shell('closed')).exec('true')).rejects.toMatchObject({
        code: 'NODE_UNFIT',
        details: {output: 'this account is closed'},
      })
    } finally {
      await other.close()
      await strange.stop()
    }
  })
})

describe('a connection that is lost', () => {
  it('rejects what is running, closes the shell, and the next shell connects again', async () => {
    const relay = await startTcpRelay(sshd.port)
    const other = openFleet([sshd.target('far', {port: relay.port})], makeContext(), {trustNew: true})
    try {
      const first = await other.shell('far')
      const process = await first.spawn('cat')
      const running = [first.exec('sleep 60'), first.exec('sleep 60'), process.exit]
      const failed = Promise.allSettled(running)
      await first.run('true')
      relay.cut()
      for (const outcome of await failed)
        expect(outcome).toMatchObject({status: 'rejected', reason: {code: 'NODE_UNREACHABLE', details: {node: 'far'}}})
      await first.closed
      await expect(first.exec('true')).rejects.toMatchObject({code: 'NODE_UNREACHABLE'})
      const second = await other.shell('far')
      expect(await second.run('echo back')).toBe('back\n')
      expect(relay.connections()).toBe(2)
    } finally {
      await other.close()
      await relay.stop()
    }
  })

  it('is an error of the stream that was being read, not its end', async () => {
    const relay = await startTcpRelay(sshd.port)
    const other = openFleet([sshd.target('far', {port: relay.port})], makeContext(), {trustNew: true})
    try {
      const process = await (await other.shell('far')).spawn('while :; do echo data; done')
      const reading = (async () => {
        for await (const chunk of process.stdout) if ((chunk as Buffer).length > 0) relay.cut()
      })()
      await expect(reading).rejects.toMatchObject({code: 'NODE_UNREACHABLE'})
    } finally {
      await other.close()
      await relay.stop()
    }
  })
})

describe('a link that died without a word', () => {
  it('is noticed by its silence', async () => {
    const relay = await startTcpRelay(sshd.port)
    const other = openFleet([sshd.target('far', {port: relay.port})], makeContext(), {
      trustNew: true,
      keepaliveInterval: 100,
    })
    try {
      const far = await other.shell('far')
      const running = far.exec('echo up; sleep 60', {onStdout: () => relay.freeze()})
      await expect(running).rejects.toMatchObject({code: 'NODE_UNREACHABLE', details: {reason: 'Keepalive timeout'}})
      await far.closed
    } finally {
      await other.close()
      await relay.stop()
    }
  })
})

// sshd without root may not give a pty away where /dev/pts is not mounted with the group tty; the local rack's tests
// have ptys without root.
describe.skipIf(process.getuid?.() !== 0)('terminal', () => {
  it('is a real pty of the size asked for, can be resized, and ends with the status of the script', async () => {
    const terminal = await shell.terminal('stty size; read x; stty size; echo "$x $TERM $SECRET"; exit 4', {
      term: 'xterm-256color',
      rows: 11,
      columns: 47,
      env: {SECRET: 'hush'},
    })
    let text = ''
    const seen = (wanted: string): Promise<void> =>
      new Promise((resolve) => terminal.stream.on('data', () => text.includes(wanted) && resolve()))
    terminal.stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await seen('11 47')
    terminal.resize(22, 99)
    terminal.stream.write('typed\r')
    await seen('hush')
    expect(text).toContain('22 99')
    expect(text).toContain('typed xterm-256color hush')
    expect(await terminal.exit).toEqual({status: 4, signal: null})
    expect(await shell.run('ls "$TMPDIR"')).toBe('')
  })

  it('passes Ctrl-C to the program', async () => {
    const terminal = await shell.terminal('trap "exit 33" INT; echo ready; while :; do sleep 0.05; done', {
      term: 'xterm',
      rows: 24,
      columns: 80,
    })
    terminal.stream.on('data', (chunk: Buffer) => chunk.toString().includes('ready') && terminal.stream.write('\u0003'))
    expect(await terminal.exit).toMatchObject({status: 33})
  })
})

/** In the sizes a file stream would give. */
function* pieces(data: Buffer): Generator<Buffer> {
  for (let at = 0; at < data.length; at += 65_536) yield data.subarray(at, at + 65_536)
}
