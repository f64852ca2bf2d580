import {execFileSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {mkdir, mkdtemp, open, readdir, readFile, rm, truncate, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext, silentReporter, type Context} from '../../src/lib/base/index.ts'
import {
  APPLY,
  CREATE,
  removeDraft,
  type ApplyKinds,
  type AppliedBundle,
  type BundleWish,
  type CreateKinds,
  type MadeBundle,
} from '../../src/lib/bundle/index.ts'
import {bundleFolder} from '../../src/lib/downloads/index.ts'
import {ensureEnvironment, openHost, type Host} from '../../src/lib/host/index.ts'
import {executePlan, throwIfFailed, valuesOf} from '../../src/lib/plan/index.ts'
import type {RackNode} from '../../src/lib/rack/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {lockText} from '../../src/lib/workspace/lock-file.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'
import {startPackageIndex, type PackageIndex} from '../support/package-index.ts'
import {startPythonServer, type PythonServer} from '../support/python-archive.ts'
import {throughJson} from '../support/through-json.ts'

/** Fetches uv, on machines that may be busy. */
const LONG = 600_000
const PYTHON = execFileSync('python3', ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], {
  encoding: 'utf8',
}).trim()

describe.skipIf(!mayMakeNetworks())('a rack that has nobody with internet', () => {
  let folder: string
  let index: PackageIndex
  let pythons: PythonServer
  let net: TestNetRack
  let fleet: Fleet
  let file: string
  let lock: string
  let online: Context
  let offline: Context
  let made: MadeBundle

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flexrack-bundle-'))
    index = await startPackageIndex(['alpha', 'beta'])
    await mkdir(join(folder, 'pythons'))
    pythons = await startPythonServer(join(folder, 'pythons'))
    online = makeContext({
      env: {
        ...process.env,
        FLEXRACK_HOME: join(folder, 'online'),
        UV_PYTHON_INSTALL_MIRROR: pythons.mirror,
        UV_PYTHON_DOWNLOADS_JSON_URL: pythons.known,
      },
    })
    // Nothing answers there.
    offline = makeContext({
      env: {
        ...process.env,
        FLEXRACK_HOME: join(folder, 'offline'),
        PIP_CONFIG_FILE: '/dev/null',
        PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
        PIP_EXTRA_INDEX_URL: '',
        PIP_FIND_LINKS: '',
        PIP_RETRIES: '0',
      },
    })
    const requirements = `--index-url ${index.plain}\nalpha\nbeta\nnowhere\n`
    const pin = async (name: string): Promise<string> =>
      `${name}==1.0 \\\n    --hash=sha256:${createHash('sha256')
        .update(
          Buffer.from(
            await (
              await fetch(`${index.plain.replace('/simple', '')}/files/${name}-1.0-py3-none-any.whl`)
            ).arrayBuffer(),
          ),
        )
        .digest('hex')}\n`
    lock = `${await pin('alpha')}${await pin('beta')}nowhere==1.0 ; python_version < "3" \\\n    --hash=sha256:${'0'.repeat(64)}\n`
    for (const [name, python] of [
      ['project', PYTHON],
      ['older', '3.9'],
    ] as const) {
      await mkdir(join(folder, name))
      await writeFile(join(folder, name, 'requirements.txt'), requirements)
      await writeFile(
        join(folder, name, 'flexrack.lock'),
        lockText('requirements.txt', {requirements, constraints: ''}, python, lock),
      )
    }
    await mkdir(join(folder, 'environments'), {mode: 0o700})
    // Its own settings do not count.
    net = await startNetRack(1, join(folder, 'environments'), () => ({
      UV_HTTP_RETRIES: '0',
      UV_DEFAULT_INDEX: 'https://other.example/simple',
      UV_PYTHON_INSTALL_MIRROR: 'https://other.example/pythons',
      UV_PYTHON_DOWNLOADS_JSON_URL: pythons.known,
      PIP_FIND_LINKS: '/opt/nothing',
      NO_PROXY: '*',
    }))
    fleet = openFleet(net.rack.nodes, makeContext())
    file = join(folder, 'lab.bundle')
    made = await create(wish())
  }, LONG)
  afterAll(async () => {
    await fleet?.close()
    await net?.stop()
    await index?.stop()
    await pythons?.stop()
    await rm(folder, {recursive: true, force: true})
  })

  const wish = (parts: Partial<BundleWish> = {}): BundleWish => ({
    to: file,
    machines: ['x86_64'],
    pythons: [PYTHON],
    program: false,
    sources: [
      {kind: 'project', name: 'project:digits', folder: join(folder, 'project'), requirements: 'requirements.txt'},
    ],
    ...parts,
  })
  const create = async (wanted: BundleWish): Promise<MadeBundle> => {
    const plan = throughJson(await CREATE.plan(wanted, online))
    const draft = await CREATE.draft(wanted.to)
    try {
      const outcomes = await executePlan(plan, CREATE.handlers, {draft, context: online}, online)
      throwIfFailed(outcomes)
      return valuesOf<CreateKinds, 'bundle.write'>(outcomes, 'bundle.write')[0] as MadeBundle
    } finally {
      await removeDraft(draft)
    }
  }
  const apply = async (path: string, context = offline): Promise<AppliedBundle> => {
    const outcomes = await executePlan(throughJson(await APPLY.plan(path, context)), APPLY.handlers, {context}, context)
    throwIfFailed(outcomes)
    return valuesOf<ApplyKinds, 'bundle.apply'>(outcomes, 'bundle.apply')[0] as AppliedBundle
  }
  const host = async (network: RackNode['network']): Promise<Host> =>
    openHost(fleet, {...(net.rack.nodes[0] as RackNode), ...(network && {network})}, makeContext())
  /** A copy of the bundle in which something is otherwise. */
  const damaged = async (name: string, change: (bytes: Buffer) => Buffer | void): Promise<string> => {
    const bytes = await readFile(file)
    await writeFile(join(folder, name), change(bytes) ?? bytes)
    return join(folder, name)
  }

  test(
    'gets environments from a bundle, and asks no index for anything',
    async () => {
      expect(made).toMatchObject({
        files: 3,
        contents: [
          {name: 'uv', machine: 'x86_64'},
          {name: 'project:digits', machine: 'x86_64', python: PYTHON},
        ],
      })
      await expect(ensureEnvironment(await host('bundle'), {requirements: lock}, offline)).rejects.toMatchObject({
        code: 'NOT_FOUND',
        hint: 'flexrack bundle apply FILE',
      })
      index.asked.length = 0
      expect(await apply(file)).toMatchObject({placed: 3, there: 0, program: null, contents: made.contents})
      expect(await apply(file)).toMatchObject({placed: 0, there: 3})
      await expect(ensureEnvironment(await host(undefined), {requirements: 'alpha\n'}, offline)).rejects.toMatchObject({
        hint: 'a bundle was applied on this machine: write `network: bundle` for node-1 into the rack file, and its packages come from there',
      })
      const built = await ensureEnvironment(
        await host('bundle'),
        {requirements: `--index-url ${index.plain}\n${lock}`},
        offline,
      )
      expect(
        execFileSync(`${built.path}/bin/python`, ['-c', 'import alpha, beta; print(alpha.version, beta.version)'], {
          encoding: 'utf8',
        }),
      ).toBe('1.0 1.0\n')
      expect(JSON.parse(await readFile(join(built.path, '.flexrack-ready.json'), 'utf8'))).toMatchObject({
        by: expect.stringMatching(/^uv-/),
      })
      await expect(ensureEnvironment(await host('bundle'), {requirements: 'gamma\n'}, offline)).rejects.toMatchObject({
        message: 'node-1: uv could not install gamma (line 1)',
        hint: expect.stringContaining('flexrack bundle create'),
      })
      expect(index.asked).toEqual([])
    },
    LONG,
  )

  test(
    'installs the Python that a project asks for and nodes lack from it, too',
    async () => {
      const source = {
        kind: 'project',
        name: 'project:older',
        folder: join(folder, 'older'),
        requirements: 'requirements.txt',
        python: '3.9',
      } as const
      const other = join(folder, 'older.bundle')
      const machine = 'x86_64'
      await expect(
        ensureEnvironment(await host('bundle'), {requirements: lock, python: '3.9'}, offline),
      ).rejects.toMatchObject({
        message: expect.stringContaining(
          'there is no python3.9 on this node, and uv could not install it: the bundles that were applied on this machine have none for it',
        ),
        hint: expect.stringContaining('flexrack bundle create'),
      })
      const whole = await create(wish({to: other, sources: [source]}))
      expect(whole.contents).toEqual([
        {name: 'uv', machine},
        {name: 'python', machine, python: '3.9'},
        {name: 'project:older', machine, python: '3.9'},
      ])
      // Two sources may have the same wish, and a Python that is named suits the first one.
      expect(
        (
          await CREATE.plan(wish({pythons: [PYTHON, '3.9'], sources: [source, {...source, name: 'again'}]}), online)
        ).steps.map(({id}) => id),
      ).toEqual([
        'uv:x86_64',
        'python:3.9:x86_64',
        'wheels:project:older:3.9:x86_64',
        'wheels:again:3.9:x86_64',
        'write',
      ])
      const asked = pythons.asked.length
      index.asked.length = 0
      expect(await apply(other)).toMatchObject({placed: 1, there: 3})
      const warned: string[] = []
      // As where several nodes get it: through the node's own proxy, which goes by the hashes that this machine says.
      const built = await ensureEnvironment(
        await host('bundle'),
        {requirements: lock, python: '3.9', together: true},
        {...offline, reporter: {...silentReporter, warn: (text) => void warned.push(text)}},
      )
      expect(warned).toEqual([])
      expect(
        execFileSync(
          `${built.path}/bin/python`,
          ['-c', 'import alpha, sys; print(alpha.version, sys.version.split()[0])'],
          {encoding: 'utf8'},
        ),
      ).toBe('1.0 3.9.2\n')
      expect([pythons.asked.length - asked, index.asked]).toEqual([0, []])
      const wrong = makeContext({
        env: {...online.env, FLEXRACK_HOME: join(folder, 'online'), UV_PYTHON_DOWNLOADS_JSON_URL: pythons.other},
      })
      const draft = await CREATE.draft(join(folder, 'wrong'))
      await expect(
        CREATE.handlers['bundle.python']({machine, python: '3.9'}, {} as never, {draft, context: wrong}),
      ).rejects.toMatchObject({code: 'REMOTE_FAILED', message: expect.stringContaining('Hash mismatch')})
      await removeDraft(draft)
    },
    LONG,
  )

  test(
    'puts nothing of a damaged bundle in place, and names what is damaged',
    async () => {
      const context = makeContext({env: {...offline.env, FLEXRACK_HOME: join(folder, 'third')}})
      const nothing = async (): Promise<void> =>
        expect(await readdir(bundleFolder(context.env)).catch(() => [])).toEqual([])
      const content = await damaged(
        'content',
        (bytes) => void bytes.writeUInt8(bytes.readUInt8(bytes.indexOf('beta.py')) ^ 1, bytes.indexOf('beta.py')),
      )
      await expect(apply(content, context)).rejects.toMatchObject({
        message: `${content} is damaged: wheels/beta-1.0-py3-none-any.whl has another content than its manifest says; nothing was put in place`,
        details: {file: 'wheels/beta-1.0-py3-none-any.whl'},
      })
      await nothing()
      const short = join(folder, 'short')
      await writeFile(short, await readFile(file))
      await truncate(short, Math.floor(made.bytes / 2))
      await expect(apply(short, context)).rejects.toMatchObject({details: {file: expect.stringMatching(/^uv\//)}})
      const header = await damaged('header', (bytes) => void bytes.writeUInt8(0, bytes.lastIndexOf('wheels/beta') + 3))
      await expect(apply(header, context)).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('is damaged: wheels/beta-1.0-py3-none-any.whl is missing'),
      })
      const manifest = await damaged('manifest', (bytes) => void bytes.write('!', bytes.indexOf('"flexrack"')))
      await expect(apply(manifest, context)).rejects.toMatchObject({code: 'CONFLICT', details: {file: 'manifest.json'}})
      const newer = await damaged('newer', (bytes) => void bytes.write('"format": 9', bytes.indexOf('"format": 3')))
      await expect(apply(newer, context)).rejects.toMatchObject({code: 'NEWER_VERSION'})
      const outside = await damaged(
        'outside',
        (bytes) => void bytes.write('wheels/../../x', bytes.indexOf('wheels/alpha')),
      )
      await expect(apply(outside, context)).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('names a file that no bundle has'),
      })
      const other = join(folder, 'other')
      await (await open(other, 'w')).close()
      await expect(apply(other, context)).rejects.toMatchObject({code: 'USAGE'})
      await nothing()
    },
    LONG,
  )

  test(
    'names the package that has no wheel, and a project without a lock file',
    async () => {
      const unlocked = join(folder, 'unlocked')
      await mkdir(unlocked)
      await writeFile(join(unlocked, 'requirements.txt'), 'alpha\n')
      const sources = (of: string): BundleWish['sources'] => [
        {kind: 'project', name: 'project:x', folder: of, requirements: 'requirements.txt'},
      ]
      await expect(CREATE.plan(wish({sources: sources(unlocked)}), online)).rejects.toMatchObject({
        code: 'CHECK_FAILED',
        hint: 'flexrack lock',
      })
      const requirements = `--index-url ${index.plain}\nzeta\n`
      await writeFile(join(unlocked, 'requirements.txt'), requirements)
      await writeFile(
        join(unlocked, 'flexrack.lock'),
        lockText(
          'requirements.txt',
          {requirements, constraints: ''},
          PYTHON,
          `zeta==2.0 --hash=sha256:${'0'.repeat(64)}\n`,
        ),
      )
      await expect(create(wish({to: join(folder, 'never'), sources: sources(unlocked)}))).rejects.toMatchObject({
        message: expect.stringContaining(
          `the package index has no wheel of zeta==2.0 for Python ${PYTHON} on x86_64, which project:x needs`,
        ),
      })
      expect((await readdir(folder)).filter((name) => name.includes('never'))).toEqual([])
    },
    LONG,
  )
})
