import {execFileSync} from 'node:child_process'
import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {openHost} from '../../src/lib/host/index.ts'
import type {RackNode} from '../../src/lib/rack/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {buildProgram, flexrack as program, type Ended} from '../support/program.ts'
import {serveBucket, testRclone} from '../support/rclone.ts'

let rack: TestLocalRack
let folder: string
let rclone: string
let servers: {section: string; stop(): Promise<void>}[]
let roots: string[]

beforeAll(async () => {
  buildProgram()
  rack = await startLocalRack({nodes: 2, environments: await sharedEnvironments()})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-buckets-'))
  rclone = await testRclone(rack.context())
  for (const one of ['project', 's3/bucket/set/deep', 'slow']) await mkdir(join(folder, one), {recursive: true})
  await writeFile(join(folder, 's3/bucket/set/deep/x.txt'), 'seven\n')
  await writeFile(join(folder, 's3/bucket/set/big.bin'), Buffer.alloc(1 << 20, 'x'))
  servers = [
    await serveBucket(rclone, 's3', join(folder, 's3')),
    await serveBucket(rclone, 'webdav', join(folder, 'slow'), ['--bwlimit', '200k']),
  ]
  await writeFile(
    join(folder, 'rclone.conf'),
    `[store]\n${servers[0]?.section}\n[slow]\n${servers[1]?.section}\n[other]\ntype = ftp\nhost = example.org\npass = NOBODYSBUSINESS\n`,
    {mode: 0o600},
  )
  roots = await Promise.all(
    rack.rack.nodes.map(async (node) => (await openHost(rack.fleet(), node as RackNode, rack.context())).root),
  )
})

afterAll(async () => {
  await Promise.all((servers ?? []).map((one) => one.stop()))
  await rack?.stop()
  await rm(folder, {recursive: true, force: true})
})

const environment = (): NodeJS.ProcessEnv => ({FLEXRACK_HOME: rack.home, RCLONE_CONFIG: join(folder, 'rclone.conf')})
const flexrack = (...args: string[]): Promise<Ended> =>
  program(args, {cwd: join(folder, 'project'), env: environment()})
const json = async <T>(...args: string[]): Promise<T> => JSON.parse((await flexrack(...args, '--json')).stdout) as T
const runOf = ({stdout, stderr}: Ended): string => /bucket-[a-z0-9]{5}/.exec(stdout + stderr)?.[0] as string
const SECRETS = /SECRETOFTHETEST|passwordOfTheTest|NOBODYSBUSINESS/

/** Every file of a run on the nodes that has what nobody may read. */
const leaks = (run: string): string[] =>
  roots.flatMap((root) => {
    const places = [join(root, 'runs', run), join(root, 'rclone')].filter((place) => existsSync(place))
    const found =
      places.length === 0
        ? []
        : execFileSync('find', [...places, '-type', 'f', '-size', '-200k', '-print'], {encoding: 'utf8'})
            .split('\n')
            .filter(Boolean)
    return found.filter((file) => SECRETS.test(readFileSync(file, 'latin1')))
  })

test('a run has its inputs on each node, and has finished when what each of them left is in the bucket and was compared', async () => {
  await writeFile(
    join(folder, 'project/flexrack.yaml'),
    'name: bucket\ntrain:\n  command: train.py\n  launcher: plain\n  nodes: 2\n  inputs: {set: "store:bucket/set"}\n  uploads: [{to: "store:bucket/runs", files: [keep/]}]\n',
  )
  await writeFile(
    join(folder, 'project/train.py'),
    [
      'import os',
      'inputs, out, rank = os.environ["FLEXRACK_INPUTS"], os.environ["FLEXRACK_OUTPUTS"], os.environ["RANK"]',
      'print("read", open(inputs + "/set/deep/x.txt").read().strip())',
      'os.makedirs(out + "/keep")',
      'open(f"{out}/keep/{rank}", "w").write(rank)',
      'open(out + "/left", "w").write("x")',
      'os.symlink("/etc/passwd", out + "/keep/link")',
      '',
    ].join('\n'),
  )
  const planned = await flexrack('train', '--dry-run', '--no-tracking', '--json')
  expect(planned.stdout).toContain('store:bucket/runs')
  expect(planned.stdout).not.toMatch(SECRETS)
  const trained = await flexrack('train', '--no-tracking', '--skip', 'all')
  expect(trained.status, trained.stdout + trained.stderr).toBe(0)
  expect(trained.stdout.match(/read seven/g)).toHaveLength(2)
  const run = runOf(trained)
  expect((await readdir(join(folder, 's3/bucket/runs', run, 'keep'))).sort()).toEqual(['0', '1'])
  expect(existsSync(join(folder, 's3/bucket/runs', run, 'left'))).toBe(false)
  expect(leaks(run)).toEqual([])
  expect(await json('runs', 'show', run)).toMatchObject({
    uploads: [
      {node: 'node-1', status: 'done', uploads: [{files: 1, links: 1}]},
      {node: 'node-2', status: 'done'},
    ],
  })
  expect((await stat(join(roots[0] as string, 'runs', run, 'inputs/set/big.bin'))).mode & 0o777).toBe(0o444)

  await writeFile(
    join(folder, 'project/flexrack.yaml'),
    'name: bucket\ntrain: {command: train.py, launcher: plain, inputs: {set: "store:bucket/nothing"}}\n',
  )
  expect(await flexrack('train', '--no-tracking', '--skip', 'all')).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('there is nothing at store:bucket/nothing'),
  })
  expect(
    readdirSync(join(roots[0] as string, 'runs')).filter(
      (name) => !existsSync(join(roots[0] as string, 'runs', name, 'spec.json')) && !name.startsWith('.'),
    ),
  ).toEqual([])
  await writeFile(
    join(folder, 'project/flexrack.yaml'),
    'name: bucket\ntrain: {command: train.py, launcher: plain, inputs: {set: "stor:bucket/nothing"}}\n',
  )
  expect(await flexrack('train', '--dry-run')).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('rclone has no remote stor'),
  })
})

test('a run whose upload is killed has failed, says so, and finishes by `runs upload`', async () => {
  await writeFile(
    join(folder, 'project/flexrack.yaml'),
    'name: bucket\ntrain: {command: train.py, launcher: plain, restarts: 2, uploads: [{to: "slow:runs"}]}\n',
  )
  await writeFile(
    join(folder, 'project/train.py'),
    'import os\nopen(os.environ["FLEXRACK_OUTPUTS"] + "/big.bin", "wb").write(os.urandom(8 << 20))\nprint("trained")\n',
  )
  const detached = await flexrack('train', '--no-tracking', '--skip', 'all', '--detach')
  const run = runOf(detached)
  const place = join(roots[0] as string, 'runs', run)
  const uploader = async (): Promise<number> => {
    for (let tries = 0; tries < 600; tries++) {
      for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
        try {
          if (
            readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('\0copy\0') &&
            readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`FLEXRACK_TAG=${run}.0.1`)
          )
            return Number(pid)
        } catch {
          continue
        }
      }
      await pause(50)
    }
    throw new Error('nothing is uploaded')
  }
  const pid = await uploader()
  expect((await stat(join(place, 'rclone.conf'))).mode & 0o777).toBe(0o600)
  expect([existsSync(join(place, 'result.json')), (await json<{status: string}>('runs', 'show', run)).status]).toEqual([
    false,
    'running',
  ])
  expect(readFileSync(`/proc/${pid}/cmdline`, 'latin1')).not.toMatch(SECRETS)
  process.kill(pid, 'SIGKILL')
  expect((await flexrack('runs', 'wait', run)).status).not.toBe(0)
  const failed = await json<{status: string; attempts: unknown[]; cause: {kind: string; message: string}}>(
    'runs',
    'show',
    run,
  )
  expect(failed).toMatchObject({
    status: 'failed',
    cause: {kind: 'upload', message: expect.stringContaining('did not come to slow:runs')},
  })
  expect(failed.attempts).toHaveLength(1)
  expect(leaks(run)).toEqual([])
  expect((await flexrack('runs', 'show', run)).stdout).toContain(`flexrack runs upload ${run}`)

  await servers[1]?.stop()
  servers[1] = await serveBucket(rclone, 'webdav', join(folder, 'slow'))
  await writeFile(join(folder, 'rclone.conf'), `[slow]\n${servers[1].section}\n`, {mode: 0o600})
  expect(await json('runs', 'upload', run)).toMatchObject({
    run,
    finished: true,
    nodes: [{node: 'node-1', uploads: [{files: 1, bytes: 8 << 20}]}],
  })
  expect(
    (await readFile(join(folder, 'slow/runs', run, 'big.bin'))).equals(await readFile(join(place, 'outputs/big.bin'))),
  ).toBe(true)
  expect(await json('runs', 'show', run)).toMatchObject({status: 'finished', cause: null, uploads: [{status: 'done'}]})
})
