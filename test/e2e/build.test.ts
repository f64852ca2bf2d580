import {spawn} from 'node:child_process'
import {existsSync} from 'node:fs'
import {appendFile, cp, mkdtemp, readdir, readFile, rm, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'

const root = resolve(import.meta.dirname, '../..')
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-build-'))
  for (const path of [
    'src',
    'bin',
    'scripts/build.ts',
    'scripts/build',
    'node/flexrack_node',
    'tsconfig.json',
    'package.json',
    'package-lock.json',
  ]) {
    await cp(join(root, path), join(folder, path), {recursive: true})
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
})
afterAll(() => rm(folder, {recursive: true, force: true}))

async function build(...words: string[]): Promise<{status: number | null; output: string}> {
  const child = spawn(process.execPath, [join(folder, 'scripts/build.ts'), ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return {status: await new Promise((done) => child.on('close', done)), output}
}

const commandIds = async (): Promise<string[]> =>
  Object.keys((JSON.parse(await readFile(join(folder, 'oclif.manifest.json'), 'utf8')) as {commands: object}).commands)

describe('the build', () => {
  it('may run twice at once, and leaves nothing of itself behind', async () => {
    const [one, two] = await Promise.all([build(), build()])
    expect([one, two]).toEqual([
      {status: 0, output: 'Building flexrack ...\n'},
      {status: 0, output: 'Building flexrack ...\n'},
    ])
    expect((await readdir(join(folder, 'dist'))).sort()).toEqual([
      '.gone',
      '.sources',
      'chunks',
      'cli',
      'commands',
      'head-service.mjs',
      'lib',
      'licences.txt',
    ])
    expect(await commandIds()).toContain('rack:list')
  })

  it('does nothing where nothing changed', async () => {
    expect(await build()).toEqual({status: 0, output: ''})
  })

  it('takes away what a removed source had become, but leaves its chunks to programs that run', async () => {
    const old = join(folder, 'dist/chunks/old-12345678.js')
    await writeFile(old, '')
    await rm(join(folder, 'src/commands/rack/list.ts'))
    expect((await build()).status).toBe(0)
    expect(existsSync(join(folder, 'dist/commands/rack/list.js'))).toBe(false)
    expect(await commandIds()).not.toContain('rack:list')
    expect(existsSync(old)).toBe(true)
    expect(await build('--pack')).toEqual({status: 0, output: ''})
    expect(existsSync(old)).toBe(false)
  })

  it('has the licence of every package that it bundles', async () => {
    const text = await readFile(join(folder, 'dist/licences.txt'), 'utf8')
    const {packages} = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, {version: string}>
    }
    const chunks = await Promise.all(
      (await readdir(join(folder, 'dist/chunks'))).map((name) => readFile(join(folder, 'dist/chunks', name), 'utf8')),
    )
    const bundled = new Set(
      chunks.flatMap((chunk) =>
        [...chunk.matchAll(/^\t*\/\/ (?:\S*\/)?(node_modules\/(?:@[^/\s]+\/)?[^/\s]+)\//gm)].map(
          ([, path]) => path as string,
        ),
      ),
    )
    expect(bundled).toContain('node_modules/ssh2')
    for (const path of bundled)
      expect(text).toContain(`${path.replace(/^.*node_modules\//, '')} ${packages[path]?.version}: `)
  })

  it('fails for a source that is no TypeScript, and tries again the next time', async () => {
    await appendFile(join(folder, 'src/commands/status.ts'), '\nexport const = 1\n')
    expect((await build()).status).not.toBe(0)
    expect((await build()).status).not.toBe(0)
  })
})
