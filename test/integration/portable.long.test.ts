import {execFileSync} from 'node:child_process'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {cp, mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {connect} from 'node:net'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {buildPortable, prebuilt} from '../../scripts/build-portable.ts'
import {HERE, machineOf, PACKAGED} from '../../scripts/portable/machines.ts'
import {oldRoot, type OldRoot} from '../support/old-root.ts'

const root = resolve(import.meta.dirname, '../..')
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-old-'))
  for (const machine of PACKAGED) await buildPortable(machine)
}, 3_600_000)
afterAll(() => rm(folder, {recursive: true, force: true}))

it.each(PACKAGED)('on an older Debian for $name, a daemon lends a GPU in software to a program', async (machine) => {
  const old = await oldRoot(machine, join(folder, machine.name))
  await cp(prebuilt(machine), join(old.folder, 'opt'), {recursive: true})
  expect(old.run(['/opt/flexrack-bench', 'loopback'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('"rtt_us"'),
  })
  await mkdir(join(old.folder, 'opt/daemon'))
  const daemon = old.start([
    '/opt/flexrack-gpud',
    'broker',
    '--root',
    '/opt/daemon',
    '--backend',
    'sim',
    '--driver',
    '/opt/libflexrack-sim.so',
    '--sim-memory',
    '1GiB',
  ])
  let said = ''
  daemon.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  try {
    await expect
      .poll(() => existsSync(join(old.folder, 'opt/daemon/address.json')) || daemon.exitCode !== null)
      .toBe(true)
    expect([daemon.exitCode, said]).toEqual([null, ''])
    await lease(old)
    // Through the driver, the wire and the daemon: copies, kernels, their results; under qemu, which takes its time, a
    // kernel alone.
    const [what, answer] = machine.name === HERE ? [[], 'GBps'] : [['--first-launch'], 'first_launch_ms']
    const words = [
      '/opt/flexrack-lease-keeper',
      '/opt/leases.json',
      '--',
      '/opt/flexrack-bench',
      'cuda',
      '--driver',
      '/opt/libflexrack-cuda.so',
      ...what,
    ]
    const done = old.run(words, {FLEXRACK_LEASES: '/opt/leases.json'})
    expect(done).toMatchObject({status: 0, stdout: expect.stringContaining(answer)})
  } finally {
    daemon.kill('SIGTERM')
    if (daemon.exitCode === null) await once(daemon, 'exit')
  }
})

it('what gcc and Clang make of the GPU in software computes the same, to the bit', () => {
  const [own = '', packed] = [
    process.env.FLEXRACK_NATIVE ?? join(root, 'native/build/release'),
    prebuilt(machineOf(HERE)),
  ].map((native) =>
    execFileSync('python3', [join(root, 'test/fixtures/gpu/arithmetic.py'), join(native, 'libflexrack-sim.so')], {
      encoding: 'utf8',
    }),
  )
  expect(own.trim().split('\n')).toHaveLength(43)
  expect(packed).toBe(own)
})

/** What `flexrack attach` writes, without the rack. */
async function lease(old: OldRoot): Promise<void> {
  const {admin} = JSON.parse(await readFile(join(old.folder, 'opt/daemon/address.json'), 'utf8')) as {admin: string}
  const socket = connect(join(old.folder, admin))
  socket.write(`${JSON.stringify({op: 'lease', devices: 1, owner: 'tests', purpose: 'tests'})}\n`)
  let text = ''
  for await (const chunk of socket) if ((text += String(chunk)).includes('\n')) break
  const {ok} = JSON.parse(text) as {
    ok: {lease: string; key: string; grace_seconds: number; devices: unknown[]; server: object}
  }
  const file = join(old.folder, 'opt/leases.json')
  const server = {...ok.server, node: 'old', lease: ok.lease, key: ok.key, devices: ok.devices}
  await writeFile(file, JSON.stringify({version: 1, grace_seconds: ok.grace_seconds, servers: [server]}), {mode: 0o600})
}
