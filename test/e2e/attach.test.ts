import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {brokerOf, buildOccupy, startGpuRack, type GpuRack} from '../support/gpu-rack.ts'
import {buildProgram, shell, terminal} from '../support/program.ts'

const MiB = 1024 ** 2
let rack: GpuRack
let occupy: {path: string; remove(): Promise<void>}

beforeAll(async () => {
  buildProgram()
  ;[rack, occupy] = await Promise.all([startGpuRack({nodes: 2, devices: 2}), buildOccupy()])
})
afterAll(async () => {
  await rack?.stop()
  await occupy?.remove()
})
afterEach(() => rack?.untilFree())

const seen = async (...flags: string[]): Promise<{platforms: string[]; memory: number[]}> => {
  const done = await rack.flexrack('attach', ...flags, '--', 'clinfo', '--json')
  if (done.status !== 0) throw new Error(done.stderr)
  const reported = JSON.parse(done.stdout) as {
    platforms: {CL_PLATFORM_NAME: string}[]
    devices: {online: {CL_DEVICE_GLOBAL_MEM_SIZE: number}[]}[]
  }
  return {
    platforms: reported.platforms.map((one) => one.CL_PLATFORM_NAME),
    memory: reported.devices.flatMap((one) => one.online.map((device) => device.CL_DEVICE_GLOBAL_MEM_SIZE)),
  }
}

describe('what a command sees', () => {
  test('is the leased devices and no others, each of the size of its share', async () => {
    expect(await seen('--memory', '512MiB')).toEqual({platforms: ['Flexrack'], memory: [512 * MiB]})
    expect(await seen('-n', '2', '--memory', '1GiB')).toEqual({
      platforms: ['Flexrack'],
      memory: [1024 * MiB, 1024 * MiB],
    })
  })

  test('is one list where the devices are on several nodes', async () => {
    expect((await seen('-n', '3', '--memory', '256MiB', '--transport', 'tls')).memory).toEqual([
      256 * MiB,
      256 * MiB,
      256 * MiB,
    ])
  })

  test('is a fraction to the byte, and a whole device whole', async () => {
    const [device] = (await rack.read()).devices
    expect((await seen('--fraction', '0.25')).memory).toEqual([Math.floor(device!.memory / 4)])
    expect((await seen()).memory).toEqual([device!.memory])
  })

  test('works: kernels run on every device, over each transport', async () => {
    for (const transport of ['shm', 'tls', 'tcp']) {
      const line = `printf '\\n\\n' | $FLEXRACK attach -n 4 --memory 64MiB --transport ${transport} -- ${occupy.path} 16`
      expect(await shell(line, {env: rack.env}), transport).toMatchObject({
        status: 0,
        stdout: 'ready on 4\n0: 1\n1: 1\n2: 1\n3: 1\n0: 2\n1: 2\n2: 2\n3: 2\nbye\n',
      })
    }
  })

  test("refuses more memory than the share with the API's own error", async () => {
    const done = await rack.flexrack('attach', '--memory', '64MiB', '--', occupy.path, '65')
    expect(done.status).toBe(3)
    // CL_MEM_OBJECT_ALLOCATION_FAILURE, or too large for any buffer
    expect(done.stdout).toMatch(/^failed: (buffer -(4|61)|fill -4|finish -4)\n$/)
  })
})

describe('a command', () => {
  test('has our stdin, stdout, stderr and exit status', async () => {
    const line = `printf 'from here ' | $FLEXRACK attach -- sh -c 'cat; printf "%s|" "$@"; echo problem >&2; exit 7' x --wait 'a b'`
    const done = await shell(line, {env: rack.env})
    expect(done).toMatchObject({status: 7, stdout: 'from here --wait|a b|'})
    expect(done.stderr).toContain('problem\n')
    expect((await rack.flexrack('attach', '--', 'sh', '-c', 'kill -TERM $$')).status).toBe(143)
    expect(await rack.flexrack('attach', '--', 'no-such-command')).toMatchObject({
      status: 127,
      stderr: expect.stringContaining('there is no command no-such-command here'),
    })
  })

  test('gets Ctrl-C and ends as it likes, from a terminal and from a signal', async () => {
    const script = 'trap "echo caught; exit 3" INT; echo ready; while :; do sleep 0.05; done'
    const running = rack.attach('--', 'sh', '-c', script)
    await running.says('ready')
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({status: 3, stdout: 'ready\ncaught\n'})
    const shown = await terminal(
      [
        join(import.meta.dirname, '../../bin/run.js'),
        'attach',
        '--',
        'sh',
        '-c',
        'n=0; trap "n=\\$((n+1)); echo caught \\$n; test \\$n = 4 && exit 5" INT; echo ready; while :; do sleep 0.05; done',
      ],
      [
        ['ready', '\x03'],
        ['caught 1', '\x03'],
        ['caught 2', '\x03'],
        ['caught 3', '\x03'],
      ],
      {env: rack.env},
    )
    expect(shown).toMatchObject({status: 5, stdout: expect.stringContaining('caught 4')})
  })

  test('is told as part of the answer under --json', async () => {
    const done = await rack.flexrack(
      'attach',
      '--fraction',
      '0.5',
      '--json',
      '--',
      'sh',
      '-c',
      'echo out; echo err >&2; exit 4',
    )
    expect(done.status).toBe(4)
    expect(JSON.parse(done.stdout)).toMatchObject({
      status: 4,
      signal: null,
      stdout: 'out\n',
      stderr: expect.stringContaining('err\n'),
      leases: [{node: 'node-1', devices: [{name: expect.any(String)}], way: 'shared-memory', tunnel: false}],
    })
  })

  test('runs with a lease whose key nobody else can read, and nothing of it is left', async () => {
    const done = await rack.flexrack(
      'attach',
      '--',
      'sh',
      '-c',
      'stat -c %a "$FLEXRACK_LEASES" "$(dirname "$FLEXRACK_LEASES")"; ls "$OCL_ICD_VENDORS"; grep -o "\\"key\\":\\"[0-9a-f]*" "$FLEXRACK_LEASES" | cut -c8- | while read -r key; do grep -lF "$key" /proc/[0-9]*/cmdline 2>/dev/null; done; true',
    )
    expect(done.stdout).toBe('600\n700\nflexrack.icd\n')
    expect(await readdir(join(rack.rack.home, 'state', 'attach'))).toEqual([])
  })
})

describe('everything is given back', () => {
  test.each(['flexrack', 'flexrack-lease-keeper', 'the command'])('where %s is killed', async (who) => {
    const running = rack.attach('-n', '4', '--memory', '128MiB', '--', occupy.path, '64')
    await running.says('ready on 4')
    const report = await rack.until('64 MiB in use on each', ({devices}) =>
      devices.every((one) => one.used >= 64 * MiB),
    )
    expect(report.leases.map((one) => one.state)).toEqual(['held', 'held'])
    const hold = await childOf(running.child.pid as number)
    const command = await childOf(hold)
    process.kill(
      who === 'flexrack' ? (running.child.pid as number) : who === 'flexrack-lease-keeper' ? hold : command,
      'SIGKILL',
    )
    expect((await running.ended).status).not.toBe(0)
    await rack.untilFree()
    await gone(hold)
    await gone(command)
  })
})

describe('more than there is', () => {
  test('is refused with what is free and who holds the rest, and waits its turn with --wait', async () => {
    const running = rack.attach('-n', '3', '--', occupy.path, '1')
    await running.says('ready on 3')
    const refused = await rack.flexrack('attach', '-n', '2', '--', 'true')
    expect(refused.status).toBe(7)
    expect(refused.stderr).toContain('2 whole GPUs are asked for, but only 1 is free')
    expect(refused.stderr.match(/nothing free; \S+@\S+ \(attach occupy\) has all of it/g)).toHaveLength(3)
    expect(refused.stderr).toContain('try: flexrack attach -n 2 --wait -- true')
    expect(await rack.flexrack('attach', '-n', '2', '--wait', '--timeout', '1', '--', 'true')).toMatchObject({
      status: 9,
    })
    expect(await rack.flexrack('attach', '-n', '9', '--wait', '--', 'true')).toMatchObject({
      status: 7,
      stderr: expect.stringContaining('9 whole GPUs are asked for, but rack local has 4'),
    })
    const waiting = rack.attach('-n', '2', '--wait', '--', occupy.path, '1')
    const early = await Promise.race([
      waiting.ended.then(() => 'ended'),
      rack.flexrack('gpu', 'leases').then(() => 'waits'),
    ])
    expect(early).toBe('waits')
    running.child.stdin?.end()
    expect((await running.ended).status).toBe(0)
    await waiting.says('ready on 2')
    waiting.child.stdin?.end()
    expect((await waiting.ended).status).toBe(0)
  })

  test('a plan says what would be taken and takes nothing', async () => {
    const plan = JSON.parse(
      (await rack.flexrack('attach', '-n', '3', '--memory', '1GiB', '--dry-run', '--json', '--', 'x')).stdout,
    )
    expect(plan.steps.map((step: {id: string; node: string | null}) => [step.id, step.node])).toEqual([
      ['lease:node-1', 'node-1'],
      ['lease:node-2', 'node-2'],
      ['run', null],
    ])
    expect((await rack.flexrack('attach', '--fraction', '0.5', '--dry-run', '--', 'x')).stdout).toMatch(
      /node-1 +Lease 50 % of 1 GPU: 0 \(.*\)\n/,
    )
  })

  test.each([
    [['--fraction', '1.5'], 2, 'a fraction is a number from 0.001 to 1'],
    [['--memory', '3 pounds'], 2, 'is not a size of memory'],
    [['--memory', '1GiB', '--fraction', '0.5'], 2, '--fraction'],
    [['--timeout', '3'], 2, '--wait'],
    [['--on', 'node-9'], 4, 'has no node "node-9"'],
    [['--memory', '9TiB'], 7, 'no GPU is that large'],
  ])('%j is an error', async (flags, status, message) => {
    expect(await rack.flexrack('attach', ...flags, '--', 'true')).toMatchObject({
      status,
      stderr: expect.stringContaining(message),
    })
  })
})

describe('with --restart a command', () => {
  const script = 'echo attempt $FLEXRACK_ATTEMPT; [ $FLEXRACK_ATTEMPT = 2 ] || exec "$0" 16'

  test('begins again on other GPUs when its own are lost with their server', async () => {
    const running = rack.attach('--restart', '2', '--on', 'node-1', '--', 'sh', '-c', script, occupy.path)
    await running.says('ready on 1')
    const shell = await rack.rack.shell('node-1')
    await shell.run(`for one in $(cat /proc/${await brokerOf(shell)}/task/*/children); do kill -9 $one; done`)
    running.child.stdin?.write('\n')
    expect(await running.ended).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^attempt 1\nready on 1\n[\s\S]*attempt 2\n$/),
      stderr: expect.stringMatching(/the GPUs were lost \(.+\): starting again, 1 of 2/),
    })
  })

  test('does not where it failed by itself, or its lease was given back', async () => {
    expect(await rack.flexrack('attach', '--restart', '2', '--', 'sh', '-c', 'echo once; exit 3')).toMatchObject({
      status: 3,
      stdout: 'once\n',
    })
    const running = rack.attach('--restart', '2', '--', 'sh', '-c', script, occupy.path)
    await running.says('ready on 1')
    const [lease] = JSON.parse((await rack.flexrack('gpu', 'leases', '--json')).stdout).leases
    await rack.flexrack('gpu', 'release', lease.lease.slice(0, 8), '--yes')
    const done = await running.ended
    expect(done.status).not.toBe(0)
    expect(done.stdout).not.toContain('attempt 2')
  })
})

describe('the daemon', () => {
  test('is started again when its broker is killed, and who uses its GPUs does not notice', async () => {
    const running = rack.attach('-n', '2', '--on', 'node-1', '--memory', '64MiB', '--', occupy.path, '1')
    await running.says('ready on 2')
    running.child.stdin?.write('\n')
    await running.says('1: 1\n')
    const shell = await rack.rack.shell('node-1')
    const before = await brokerOf(shell)
    await shell.run(`kill -9 ${before}`)
    running.child.stdin?.write('\n')
    await running.says('1: 2\n')
    await rack.until(
      'a new broker that knows the lease',
      ({leases}) => leases.length === 1 && leases[0]?.state === 'held',
    )
    expect(await brokerOf(shell)).not.toBe(before)
    running.child.stdin?.write('\n')
    await running.says('1: 3\n')
    running.child.stdin?.end()
    expect((await running.ended).status).toBe(0)
  })

  test('serves on where it is served again, and refuses to go while somebody is at work', async () => {
    expect(JSON.parse((await rack.flexrack('gpu', 'serve', '--json')).stdout)).toMatchObject([
      {node: 'node-1', started: false},
      {node: 'node-2', started: false},
    ])
    expect((await rack.flexrack('gpu', 'serve', '--dry-run')).stdout).toBe('Nothing to do for gpu serve.\n')
    const running = rack.attach('--on', 'node-2', '--', occupy.path, '1')
    await running.says('ready')
    expect(await rack.flexrack('gpu', 'stop')).toMatchObject({
      status: 8,
      stderr: expect.stringContaining('1 lease is in use here'),
    })
    expect((await rack.flexrack('gpu', 'leases')).stdout).toMatch(
      /node-2 +0 +whole +\S+ +\S+ +\S+@\S+ +attach occupy +1 program/,
    )
    const [lease] = JSON.parse((await rack.flexrack('gpu', 'leases', '--json')).stdout).leases
    expect(await rack.flexrack('gpu', 'release', lease.lease.slice(0, 8))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--yes'),
    })
    expect(await rack.flexrack('gpu', 'release', lease.lease.slice(0, 8), '--yes')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('has ended'),
    })
    running.child.stdin?.write('\n')
    expect((await running.ended).status).not.toBe(0)
    // stopped on the node that was free
    expect(await rack.flexrack('gpu', 'serve', 'node-1')).toMatchObject({status: 0})
  })
})

test('status, list and smi show what is shared and who has it', async () => {
  const running = rack.attach('--memory', '1GiB', '--', occupy.path, '32')
  await running.says('ready')
  await rack.until('32 MiB in use', ({devices}) => devices.some((one) => one.used >= 32 * MiB))
  const list = await rack.flexrack('gpu', 'list')
  expect(list.stdout.split('\n').filter((line) => /^node-[12] +[01] /.test(line))).toHaveLength(4)
  expect(list.stdout).toMatch(/32\.\d MiB.*@\S+ 1\.0 GiB/)
  const smi = await rack.flexrack('gpu', 'smi')
  expect(smi.stdout).toMatch(/4 GPUs, 32\.\d MiB of .* used, 1 lease/)
  expect((await rack.flexrack('status')).stdout).toMatch(/shared GPUs\n.*NODE[\s\S]*leases\n.*LEASE/)
  running.child.stdin?.end()
  expect((await running.ended).status).toBe(0)
})

test('a node that is away is told, and the others are shown', async () => {
  const {rackPath, loadRack, saveRack} = await import('../../src/lib/rack/index.ts')
  const own = await loadRack('local', rack.rack.env)
  const path = rackPath('wide', rack.rack.env)
  await saveRack({...own, name: 'wide', path, nodes: [...own.nodes, {...own.nodes[0]!, name: 'away', port: 1}]})
  const list = await rack.flexrack('gpu', 'list', '--rack', 'wide')
  expect(list).toMatchObject({status: 8, stdout: expect.stringMatching(/node-2 +1 [\s\S]*away: NODE_UNREACHABLE/)})
  expect(JSON.parse((await rack.flexrack('gpu', 'leases', '--rack', 'wide', '--json')).stdout).nodes[2]).toMatchObject({
    node: 'away',
    state: 'failed',
    code: 'NODE_UNREACHABLE',
  })
  expect(await rack.flexrack('attach', '-n', '5', '--rack', 'wide', '--', 'true')).toMatchObject({
    status: 7,
    stderr: expect.stringContaining('away was not asked'),
  })
  await (await import('node:fs/promises')).rm(path)
})

test('uninstalling takes the daemon along, with all that it has started', async () => {
  expect(await rack.flexrack('rack', 'uninstall', '--on', 'node-2', '--yes')).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('still run'),
  })
  expect(await rack.flexrack('rack', 'uninstall', '--on', 'node-2', '--force', '--yes')).toMatchObject({status: 0})
  const shell = await rack.rack.shell('node-2')
  expect(
    await shell.run(
      'ls -d ~/.flexrack 2>/dev/null; cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " " | grep -c "$HOME/[.]flexrack" || true',
    ),
  ).toBe('0\n')
  expect((await rack.flexrack('gpu', 'serve', 'node-2')).status).toBe(0)
})

async function childOf(pid: number): Promise<number> {
  const {readFile} = await import('node:fs/promises')
  for (const child of (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')) {
    // The process that holds the leases is a child of flexrack-lease-keeper too.
    if ((await readFile(`/proc/${child}/comm`, 'utf8')).trim() !== 'flexrack-keeper') return Number(child)
  }
  throw new Error(`process ${pid} has no child`)
}

async function gone(pid: number): Promise<void> {
  for (const end = Date.now() + 240_000; ;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    if (Date.now() > end) throw new Error(`process ${pid} still lives`)
    await new Promise((done) => setTimeout(done, 50))
  }
}
