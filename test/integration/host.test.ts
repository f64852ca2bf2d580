import {randomBytes} from 'node:crypto'
import {chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, utimes, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, relative} from 'node:path'
import {Readable} from 'node:stream'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {callVerb} from '../../src/lib/host/call.ts'
import {openHost, type CallOptions, type Host, type Verb} from '../../src/lib/host/index.ts'
import {loadProgram} from '../../src/lib/host/program.ts'
import type {RackNode} from '../../src/lib/rack/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'
import {startTcpRelay} from '../support/tcp-relay.ts'

let sshd: TestSshd
let folder: string
const fleets: Fleet[] = []

beforeAll(async () => {
  sshd = await startSshd({homeFiles: {'.bashrc': 'echo hi; echo ho >&2\n'}})
})
afterAll(() => sshd?.stop())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-host-'))
})
afterEach(async () => {
  await Promise.all(fleets.splice(0).map((fleet) => fleet.close()))
  await rm(folder, {recursive: true, force: true})
})

function node(parts: Partial<RackNode> = {}): RackNode {
  return {...sshd.target('node-1'), root: join(folder, 'root'), labels: {}, ...parts}
}

async function open(parts: Partial<RackNode> = {}): Promise<Host> {
  const target = node(parts)
  const fleet = openFleet([target], makeContext())
  fleets.push(fleet)
  return openHost(fleet, target, makeContext())
}

describe('openHost', () => {
  it('puts the program on the node once, in folders only the user can enter, and records it', async () => {
    const {hash, files} = await loadProgram()
    const host = await open()
    expect(host).toMatchObject({
      node: 'node-1',
      root: join(folder, 'root'),
      environments: join(folder, 'root', 'environments'),
    })
    const place = join(folder, 'root', 'program', hash)
    const there = (await readdir(join(place, 'flexrack_node'), {recursive: true, withFileTypes: true})).filter((one) =>
      one.isFile(),
    )
    expect(there.map((one) => relative(join(place, 'flexrack_node'), join(one.parentPath, one.name))).sort()).toEqual(
      Object.keys(files).sort(),
    )
    for (const path of ['root', 'root/program', `root/program/${hash}`])
      expect((await stat(join(folder, path))).mode & 0o777).toBe(0o700)
    const before = (await stat(join(place, 'flexrack_node'))).ctimeMs
    await open()
    expect((await stat(join(place, 'flexrack_node'))).ctimeMs).toBe(before)
    const record = (await readFile(join(folder, 'root', 'installed.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
    const at: unknown = expect.stringMatching(/^\d{4}-.*Z$/)
    expect(record).toEqual([
      {schema: 1, path: 'machine', kind: 'claim', at},
      {schema: 1, path: `program/${hash}`, kind: 'program', at},
    ])
  })

  it('finds the home folder of the node behind ~, and environments of their own', async () => {
    const host = await open({root: '~/.flexrack test', environments: '~/envs'})
    expect(host.root).toBe(join(sshd.home, '.flexrack test'))
    expect(host.environments).toBe(join(sshd.home, 'envs'))
  })

  it('does not mind that several commands put it there at the same time', async () => {
    const hosts = await Promise.all([open(), open(), open(), open()])
    expect(await readdir(join(folder, 'root', 'program'))).toHaveLength(1)
    await Promise.all(hosts.map((host) => host.call('service.list', {})))
  })

  it('removes versions of the program that nobody has used for a day, not newer ones and not ones that run', async () => {
    const old = (name: string): string => join(folder, 'root', 'program', name)
    const fleet = openFleet([node()], makeContext())
    fleets.push(fleet)
    const shell = await fleet.shell('node-1')
    for (const name of ['unused', 'running', 'recent']) {
      await mkdir(old(name), {recursive: true})
      await writeFile(join(old(name), 'main.py'), 'import sys; print("up", flush=True); sys.stdin.read()')
      if (name !== 'recent') await utimes(old(name), 1e9, 1e9)
    }
    const running = await shell.spawn(`exec python3 ${join(old('running'), 'main.py')}`)
    await new Promise((resolve) => running.stdout.once('data', resolve))
    await open()
    expect((await readdir(join(folder, 'root', 'program'))).sort()).toEqual(
      [(await loadProgram()).hash, 'recent', 'running'].sort(),
    )
    running.stdin.end()
    await running.exit
  })

  it('says that a root cannot be written', async () => {
    await writeFile(join(folder, 'file'), '')
    await expect(open({root: join(folder, 'file')})).rejects.toMatchObject({
      code: 'NODE_UNFIT',
      message: expect.stringContaining('node-1'),
    })
    await expect(open({root: '/proc/flexrack'})).rejects.toMatchObject({
      code: 'NODE_UNFIT',
      message: expect.stringContaining('/proc/flexrack cannot be used'),
    })
  })

  it('says that the disk is full', async () => {
    // A file system of 64 KB, in a name space of its own, so nothing has to be unmounted.
    const {
      default: {execFileSync},
    } = await import('node:child_process')
    const small = join(folder, 'small')
    await mkdir(small)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'flexrack-test', small], {stdio: 'ignore'})
    } catch {
      return // not root, or not allowed to mount
    }
    try {
      await expect(open({root: join(small, 'root')})).rejects.toMatchObject({
        code: 'NODE_UNFIT',
        message: expect.stringContaining('the disk is full'),
      })
      expect(await readdir(join(small, 'root', 'program')).catch(() => [])).toEqual([])
    } finally {
      execFileSync('umount', [small])
    }
  })

  it('says which Python was found when none is new enough', async () => {
    const bin = join(folder, 'bin')
    await mkdir(bin)
    await writeFile(join(bin, 'python3'), '#!/bin/sh\n[ "$1" = -V ] && echo Python 3.7.3 && exit\nexit 1\n')
    await chmod(join(bin, 'python3'), 0o755)
    const {execFileSync} = await import('node:child_process')
    for (const tool of ['sh', 'touch'])
      await writeFile(
        join(bin, tool),
        `#!/bin/sh\nexec ${execFileSync('sh', ['-c', `command -v ${tool}`], {encoding: 'utf8'}).trim()} "$@"\n`,
        {mode: 0o755},
      )
    const poor = await startSshd({env: {PATH: bin}})
    const fleet = openFleet([poor.target('poor')], makeContext())
    try {
      await expect(
        openHost(fleet, {...poor.target('poor'), root: '~/.flexrack', labels: {}}, makeContext()),
      ).rejects.toMatchObject({code: 'NODE_UNFIT', message: 'poor has no Python 3.9 or newer (it has Python 3.7.3)'})
    } finally {
      await fleet.close()
      await poor.stop()
    }
  })
})

/** A stand-in for the node program: the same calling convention with verbs of our own. */
const VERBS = `
import json, os, signal, sys, time, hashlib
verb = sys.argv[1]
value = json.loads(sys.stdin.buffer.readline())
say = lambda line: print(json.dumps(line), flush=True)
if verb == "echo":
    say({"event": "progress", "done": 1}); print("stray output of a library"); say({"event": "progress", "done": 2})
    say({"result": {"input": value, "body": hashlib.sha256(sys.stdin.buffer.read()).hexdigest(), "root": sys.argv[2]}})
elif verb == "fail":
    say({"error": {"code": value["code"], "message": "it broke", "hint": "mend it", "details": {"part": 7}}}); sys.exit(1)
elif verb == "early":
    say({"error": {"code": "CONFLICT", "message": "no need to read on"}}); sys.exit(1)
elif verb == "crash":
    sys.stderr.write("Segmentation fault\\n"); sys.exit(139)
elif verb == "tidy":
    def tidy(*_):
        open(value["mark"], "w").write("tidied"); sys.exit(1)
    signal.signal(signal.SIGTERM, tidy); say({"event": "ready", "pid": os.getpid()})
    while True: time.sleep(0.05)
`

type Strange = Omit<CallOptions, 'onEvent'> & {onEvent?: (event: unknown) => void}

describe('Host.call', () => {
  /** Of a program of our own, whose verbs no protocol knows. */
  let call: (verb: string, input: unknown, options?: Strange) => Promise<unknown>
  beforeEach(async () => {
    const program = join(folder, 'verbs.py')
    await writeFile(program, VERBS)
    const fleet = openFleet([node()], makeContext())
    fleets.push(fleet)
    const shell = await fleet.shell('node-1')
    call = (verb, input, options) =>
      callVerb(
        shell,
        {python: 'python3', folder: program, root: '/the root', environments: '/e'},
        verb as Verb,
        input as never,
        options as never,
      )
  })

  it('sends input and body, and gives events as they come and then the result', async () => {
    const body = randomBytes(5_000_000)
    const {createHash} = await import('node:crypto')
    for (const form of [body, Readable.from([body.subarray(0, 1_000_000), body.subarray(1_000_000)])]) {
      const events: unknown[] = []
      expect(await call('echo', {a: "it's\nü"}, {body: form, onEvent: (event) => void events.push(event)})).toEqual({
        input: {a: "it's\nü"},
        body: createHash('sha256').update(body).digest('hex'),
        root: '/the root',
      })
      expect(events).toEqual([
        {event: 'progress', done: 1},
        {event: 'progress', done: 2},
      ])
    }
  })

  it('gives errors of the program their own code, and an unknown code is REMOTE_FAILED', async () => {
    await expect(call('fail', {code: 'LOCKED'})).rejects.toMatchObject({
      code: 'LOCKED',
      message: 'node-1: it broke',
      hint: 'mend it',
      details: {node: 'node-1', part: 7},
    })
    await expect(call('fail', {code: 'FROM_THE_FUTURE'})).rejects.toMatchObject({code: 'REMOTE_FAILED'})
  })

  it('shows the answer of a verb that did not read its body to the end', async () => {
    await expect(call('early', {}, {body: Readable.from([randomBytes(8_000_000)])})).rejects.toMatchObject({
      code: 'CONFLICT',
    })
  })

  it('rejects with the error of a body that breaks', async () => {
    const broken = new Readable({
      read() {
        this.destroy(new Error('the disk of the laptop is gone'))
      },
    })
    await expect(call('echo', {}, {body: broken})).rejects.toThrow('the disk of the laptop is gone')
  })

  it('shows what a verb that died without an answer said last', async () => {
    await expect(call('crash', {})).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
      details: {status: 139, stderr: 'Segmentation fault'},
    })
  })

  it('lets a verb tidy up when it is aborted, and waits for it', async () => {
    const stop = new AbortController()
    const mark = join(folder, 'mark')
    await expect(call('tidy', {mark}, {signal: stop.signal, onEvent: () => stop.abort()})).rejects.toMatchObject({
      code: 'INTERRUPTED',
    })
    expect(await readFile(mark, 'utf8')).toBe('tidied')
  })

  it('rejects with NODE_UNREACHABLE when the connection is lost', async () => {
    const relay = await startTcpRelay(sshd.port)
    const fleet = openFleet([{...node(), port: relay.port}], makeContext(), {trustNew: true})
    fleets.push(fleet)
    const shell = await fleet.shell('node-1')
    let pid = 0
    const onEvent = (event: {pid?: number}): void => {
      pid = event.pid as number
      relay.cut()
    }
    const lost = callVerb(
      shell,
      {python: 'python3', folder: join(folder, 'verbs.py'), root: '/', environments: '/'},
      'tidy' as Verb,
      {mark: join(folder, 'x')} as never,
      {onEvent} as never,
    )
    await expect(lost).rejects.toMatchObject({code: 'NODE_UNREACHABLE'})
    process.kill(pid) // sshd leaves it alone; a real verb notices when it next speaks
    await relay.stop()
  })
})
