import {execFileSync, spawn} from 'node:child_process'
import {once} from 'node:events'
import {cp, mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import type {Context} from '../../src/lib/base/index.ts'
import {openHost, type Host} from '../../src/lib/host/index.ts'
import type {Manifest} from '../../src/lib/manifest/types.ts'
import {executePlan, throwIfFailed} from '../../src/lib/plan/index.ts'
import {
  findWorkspaces,
  planWorkspace,
  PROJECT_LOCK,
  upWorkspace,
  workspaceScript,
} from '../../src/lib/workspace/index.ts'
import {freePort} from '../support/sshd.ts'
import {startTrainRack, textOf, type TrainRack} from '../support/train.ts'

let setup: TrainRack
let context: Context
let hosts: Host[]
let folder: string
let digests: {base: string; python: string}

beforeAll(async () => {
  setup = await startTrainRack(2)
  const {rack} = setup
  context = rack.context()
  const fleet = rack.fleet()
  hosts = await Promise.all(rack.rack.nodes.map((node) => openHost(fleet, node, context)))
  folder = await mkdtemp(join(tmpdir(), 'flexrack-images-'))
  const made = execFileSync(
    'python3',
    [resolve(import.meta.dirname, '../node/image_support.py'), join(folder, 'layout'), 'python'],
    {encoding: 'utf8'},
  )
  digests = JSON.parse(made) as typeof digests
})

afterAll(async () => {
  await setup?.stop()
  await rm(folder, {recursive: true, force: true})
})

function project(name: string, parts: Partial<Manifest['workspace']> = {}): Manifest {
  return {
    path: join(folder, name, 'flexrack.yaml'),
    folder: join(folder, name),
    name,
    workspace: {exclude: [], forward: [], env: {}, ...parts},
    tracking: {experiment: name},
    endpoints: {},
  }
}

async function write(name: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, name, path, '..'), {recursive: true})
    await writeFile(join(folder, name, path), text)
  }
}

const first = (): Host => hosts[0] as Host
const second = (): Host => hosts[1] as Host

async function run(
  manifest: Manifest,
  words: string[],
  parts: Parameters<typeof workspaceScript>[3] = {},
): Promise<{stdout: string; stderr: string; status: number | null}> {
  const [workspace] = await findWorkspaces(first(), manifest.name, context)
  if (!workspace) throw new Error('no workspace')
  const {script, env} = workspaceScript(workspace, manifest.workspace.env, words, {
    isolate: manifest.workspace.isolate,
    ...parts,
  })
  return first().shell.exec(script, {env})
}

test('a command runs in the image: its files, the code at its own path, status and variables; what it writes elsewhere is gone', async () => {
  await write('plain', {'a.txt': 'code\n'})
  const manifest = project('plain', {image: `oci:${join(folder, 'layout')}:base`, env: {MINE: 'yes'}})
  const {plan} = await planWorkspace([first()], manifest, context)
  expect(plan.steps.map((step) => step.kind)).toEqual(['workspace.sync', 'workspace.image', 'workspace.environment'])
  await upWorkspace([first()], manifest, context)
  const seen = await run(manifest, [
    'sh',
    '-c',
    'cat /etc/os-release a.txt; pwd; echo $GREETING $MINE; echo x >/gone; echo y >kept; exit 7',
  ])
  const [workspace] = await findWorkspaces(first(), 'plain', context)
  expect(seen).toMatchObject({
    status: 7,
    stdout: `NAME="Test image"\nID=testimage\ncode\n${workspace?.code}\nfrom the image yes\n`,
    stderr: '',
  })
  expect((await run(manifest, ['sh', '-c', 'ls /gone; cat kept'])).stdout).toBe('y\n')
  expect((await planWorkspace([first()], manifest, context)).plan.steps).toEqual([])
  expect(workspace?.image).toMatchObject({digest: digests.base})
  await upWorkspace([first()], project('plain'), context)
  expect((await run(project('plain'), ['cat', '/etc/os-release'])).stdout).toBe(
    await readFile('/etc/os-release', 'utf8'),
  )
})

const image = (tag: string): string => `oci:${join(folder, 'layout')}:${tag}`

const RANK = `import os, signal, sys, time, platform
print(open("/etc/os-release").read().split()[1], os.environ["RANK"], os.environ["WORLD_SIZE"], os.getcwd(), sys.prefix != sys.base_prefix, flush=True)
open(os.environ["FLEXRACK_OUTPUTS"] + "/made", "w").write("kept")
if len(sys.argv) > 1:
    signal.signal(signal.SIGTERM, lambda *_: (print("saved", flush=True), sys.exit(0)))
    while True: time.sleep(0.05)
`

test('an image that shares layers with one that is there sends the others alone', async () => {
  await write('sharing', {'a.txt': 'code\n'})
  const {plan} = await planWorkspace([first()], project('sharing', {image: image('python')}), context)
  const [step] = plan.steps.filter(({kind}) => kind === 'workspace.image')
  expect(step?.title).toMatch(/1 of 2 layers/)
  const corrupt = join(folder, 'corrupt')
  await cp(join(folder, 'layout'), corrupt, {recursive: true})
  const {layers} = JSON.parse(await readFile(join(corrupt, 'blobs/sha256', digests.python.slice(7)), 'utf8')) as {
    layers: {digest: string}[]
  }
  const digest = layers[1]?.digest as string
  const file = join(corrupt, 'blobs/sha256', digest.slice(7))
  await writeFile(file, (await readFile(file)).fill(0, 1000, 1010))
  await expect(upWorkspace([first()], project('sharing', {image: `oci:${corrupt}:python`}), context)).rejects.toThrow(
    `blob ${digest} is damaged`,
  )
  expect((await first().call('image.list', null)).map((one) => one.used_by)).not.toContainEqual(['sharing'])
})

/** Debian's registry on loopback, which asks for a password, with an image as skopeo pushes it. */
async function startDistribution(): Promise<{host: string; stop(): Promise<void>}> {
  const [place, host] = [join(folder, 'registry'), `127.0.0.1:${await freePort()}`]
  await mkdir(place)
  await writeFile(join(place, 'users'), 'me:$2b$04$vc9yZKLjeMpcN/jPTdJTEeb1HYJFSCVrut/IQwo5PKs2APALWhOU2\n')
  await writeFile(
    join(place, 'auth.json'),
    JSON.stringify({auths: {[host]: {auth: Buffer.from('me:p:w').toString('base64')}}}),
  )
  await writeFile(join(place, 'config.json'), await readFile(join(place, 'auth.json')))
  await writeFile(join(place, 'policy.json'), '{"default": [{"type": "insecureAcceptAnything"}]}')
  await writeFile(
    join(place, 'config.yml'),
    JSON.stringify({
      version: '0.1',
      log: {level: 'error'},
      storage: {filesystem: {rootdirectory: join(place, 'kept')}},
      http: {addr: host},
      auth: {htpasswd: {realm: 'tests', path: join(place, 'users')}},
    }),
  )
  const daemon = spawn('docker-registry', ['serve', join(place, 'config.yml')], {stdio: 'ignore'})
  await vi.waitFor(async () => expect((await fetch(`http://${host}/v2/`)).status).toBe(401), {timeout: 30_000})
  return {
    host,
    stop: async () => {
      daemon.kill('SIGKILL')
      await once(daemon, 'exit')
    },
  }
}

test("images of Debian's registry, pushed by skopeo, packed by zstd and by gzip; without the password the way to sign in is named", async () => {
  const registry = await startDistribution()
  try {
    for (const [packing, tag] of [
      ['zstd', 'base'],
      ['gzip', 'python'],
    ] as const) {
      const words = [
        '--policy',
        join(folder, 'registry/policy.json'),
        'copy',
        '--authfile',
        join(folder, 'registry/auth.json'),
        '--dest-tls-verify=false',
        '--dest-compress',
        '--dest-compress-format',
        packing,
      ]
      execFileSync(
        'skopeo',
        [...words, `oci:${join(folder, 'layout')}:${tag}`, `docker://${registry.host}/team/tool:${packing}`],
        {stdio: 'ignore'},
      )
      const manifest = project(`from-${packing}`, {image: `${registry.host}/team/tool:${packing}`})
      await write(`from-${packing}`, {'a.txt': 'code\n'})
      const by = (config: string): Context => ({...context, env: {...context.env, DOCKER_CONFIG: join(folder, config)}})
      await expect(planWorkspace([second()], manifest, by('none'))).rejects.toMatchObject({
        code: 'REFUSED',
        hint: `docker login ${registry.host}`,
      })
      const {plan} = await planWorkspace([second()], manifest, by('registry'))
      expect(plan.steps.find(({kind}) => kind === 'workspace.image')?.title).toContain(
        packing === 'zstd' ? '1 of 1 layer' : '1 of 2 layers',
      )
      await upWorkspace([second()], manifest, by('registry'))
      const [workspace] = await findWorkspaces(second(), manifest.name, context)
      const {script, env} = workspaceScript(workspace!, {}, ['cat', '/etc/os-release', 'a.txt'])
      expect((await second().shell.exec(script, {env})).stdout).toBe('NAME="Test image"\nID=testimage\ncode\n')
      const kept = join(folder, 'registry/kept/docker/registry/v2')
      const digest = (
        await readFile(join(kept, `repositories/team/tool/_manifests/tags/${packing}/current/link`), 'utf8')
      ).slice('sha256:'.length)
      expect(await readFile(join(kept, `blobs/sha256/${digest.slice(0, 2)}/${digest}/data`), 'utf8')).toContain(
        `tar+${packing}`,
      )
    }
  } finally {
    await registry.stop()
  }
})

test('what is locked is for the Python of the image, which the node gets for that; an image without Python has nothing to lock for', async () => {
  vi.stubEnv('PIP_CONFIG_FILE', '/dev/null')
  vi.stubEnv('PIP_FIND_LINKS', '')
  await write('locked', {'requirements.txt': 'six==1.17.0\n'})
  const lock = async (manifest: Manifest): Promise<string[]> => {
    const plan = await PROJECT_LOCK.plan(hosts, manifest, context)
    throwIfFailed(await executePlan(plan, PROJECT_LOCK.handlers, {host: first, context}, context))
    return plan.steps.map(({kind}) => kind)
  }
  expect(await lock(project('locked', {image: image('other'), python: 'requirements.txt'}))).toEqual([
    'workspace.image',
    'workspace.lock',
  ])
  expect(await readFile(join(folder, 'locked/flexrack.lock'), 'utf8')).toMatch(
    /for Python 3\.14 and newer\. Do not edit\.\nsix==1\.17\.0 /,
  )
  expect(await lock(project('locked', {image: image('other'), python: 'requirements.txt'}))).toEqual(['workspace.lock'])
  await expect(lock(project('locked', {image: image('base'), python: 'requirements.txt'}))).rejects.toThrow(
    'the image has no python3, which its environments are made from',
  )
  vi.unstubAllEnvs()
})

test('two ranks train in the image, with an environment on top of its Python', async () => {
  const {trained, lines} = await setup.train(RANK, {workspace: {image: image('python')}})
  expect(trained).toMatchObject({status: 'finished', left: {'node-1': [], 'node-2': []}})
  for (const rank of [0, 1])
    expect(textOf(lines, rank)[0]).toMatch(new RegExp(`^image" ${rank} 2 /\\S+/runs/${trained.run}/code True$`))
  expect(await setup.alive(trained.run)).toEqual([])
})

for (const isolate of [undefined, {network: 'host' as const, pids: 200}]) {
  test(`Ctrl-C lets ranks in an image ${isolate ? 'and a sandbox ' : ''}save, and neither a process nor a mount is left`, async () => {
    const interrupt = new AbortController()
    const {trained, lines} = await setup.train(RANK, {
      workspace: {image: image('python'), ...(isolate && {isolate})},
      choice: {args: ['forever']},
      context: {signal: interrupt.signal},
      onLines: (seen) => [0, 1].every((rank) => textOf(seen, rank).length > 0) && interrupt.abort(),
    })
    expect(trained).toMatchObject({status: 'stopped', left: {'node-1': [], 'node-2': []}})
    for (const rank of [0, 1]) expect(textOf(lines, rank)).toContain('saved')
    expect(await setup.alive(trained.run)).toEqual([])
    expect((await readFile('/proc/mounts', 'utf8')).split('\n').filter((line) => line.includes(`/images/l/`))).toEqual(
      [],
    )
  })
}
