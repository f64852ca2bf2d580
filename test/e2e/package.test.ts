import {execFileSync} from 'node:child_process'
import {cp, mkdtemp, rm, symlink} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {PRODUCTS} from '../../scripts/build-native.ts'
import {lendsGpus, ownBinaries} from '../support/packed-gpus.ts'
import {buildProgram, shell} from '../support/program.ts'
import {toolless} from '../support/toolless.ts'

const root = resolve(import.meta.dirname, '../..')
const built = process.env.FLEXRACK_NATIVE ?? join(root, 'native/build/release')
let files: string[]
let folder: string

beforeAll(async () => {
  buildProgram()
  folder = await mkdtemp(join(tmpdir(), 'flexrack-package-'))
  const answer = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as Record<string, {files: {path: string}[]}>
  files = Object.values(answer)[0]?.files.map((file) => file.path) ?? []
})
afterAll(() => rm(folder, {recursive: true, force: true}))

// In this order: what is tried later uses what was copied before.
describe('the npm package', () => {
  it('has everything that runs: programs, manifest, node program, templates', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'bin/run.js',
        'bin/own-node.js',
        'dist/cli/main.js',
        'dist/head-service.mjs',
        'node/flexrack_node/__main__.py',
        'oclif.manifest.json',
        'templates/plain/flexrack.yaml',
      ]),
    )
  })

  it('has nothing else: no sources, tests, caches', () => {
    expect(
      files.filter(
        (file) =>
          /^(src|test|scripts|bench|docs)\/|__pycache__|\.pyc$|\.sources$|\.ts$/.test(file) &&
          !file.startsWith('templates/'),
      ),
    ).toEqual([])
  })

  it('runs from the packed files alone', async () => {
    for (const file of files) await cp(join(root, file), join(folder, file))
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    const ended = await shell(`cd / && '${process.execPath}' '${folder}/bin/run.js' rack list --json`, {
      env: {FLEXRACK_HOME: join(folder, 'home')},
    })
    expect(ended).toMatchObject({status: 0, stdout: '[]\n', stderr: ''})
  })

  it('lends GPUs by the binaries that it brings, where there is no compiler', async () => {
    // What a published one has is built for old C libraries: installed.long.test.ts.
    await rm(join(folder, 'native'), {recursive: true, force: true})
    for (const file of Object.values(PRODUCTS))
      await cp(join(built, file), join(ownBinaries(folder), file), {dereference: true})
    await lendsGpus(`'${process.execPath}' '${folder}/bin/run.js'`, {
      FLEXRACK_HOME: join(folder, 'home'),
      PATH: await toolless(join(folder, 'programs')),
    })
  })
})
