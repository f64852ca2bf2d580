import {execFileSync} from 'node:child_process'
import {readdirSync, readFileSync, realpathSync, statSync} from 'node:fs'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {PRODUCTS} from '../../scripts/build-native.ts'
import {PACKAGED} from '../../scripts/portable/machines.ts'
import {findFaults, readNeeds} from '../../scripts/portable/needs.ts'
import {lendsGpus} from '../support/packed-gpus.ts'
import {toolless} from '../support/toolless.ts'

const root = resolve(import.meta.dirname, '../..')
/** Bytes of the packed file; it is on every laptop that installs flexrack. */
const LARGEST = 40 * 1024 ** 2
let folder: string
let packed: string
let path: string

// Builds what is missing: some minutes of two cores for each kind of machine where nothing is kept.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-installed-'))
  execFileSync('npm', ['pack', '--pack-destination', folder], {cwd: root, stdio: ['ignore', 'ignore', 'inherit']})
  packed = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) as string)
  path = await toolless(join(folder, 'programs'))
}, 3_600_000)
afterAll(() => rm(folder, {recursive: true, force: true}))

it('the package has binaries, which need nothing but an old C library', () => {
  execFileSync('tar', ['-xzf', packed, '-C', folder])
  expect(statSync(packed).size).toBeLessThan(LARGEST)
  for (const machine of PACKAGED) {
    const binaries = join(folder, 'package/native/prebuilt', `linux-${machine.name}`)
    for (const file of Object.values(PRODUCTS).filter((name) => name !== 'flexrack-ptx-passthrough'))
      expect([file, findFaults(readNeeds(join(binaries, file)))]).toEqual([file, []])
    expect(JSON.parse(readFileSync(join(binaries, 'built.json'), 'utf8'))).toMatchObject({
      machine: machine.name,
      glibc: '2.28',
    })
  }
})

it.each(['22', '24'])('installed with Node %s on a machine without a compiler, it lends GPUs', async (version) => {
  const [prefix, name] = [join(folder, `prefix-${version}`), `node-${process.platform}-${process.arch}`]
  // The binary of that version alone, as npm has it.
  npm(process.execPath, process.env, ['--prefix', join(folder, `node-${version}`), `${name}@${version}`])
  const bin = join(folder, `node-${version}`, 'node_modules', name, 'bin')
  const env = {...process.env, PATH: `${bin}:${path}`}
  npm(join(bin, 'node'), env, ['--global', '--prefix', prefix, packed])
  await lendsGpus('flexrack', {FLEXRACK_HOME: join(folder, `home-${version}`), PATH: `${bin}:${prefix}/bin:${path}`})
})

/** npm install by a Node. */
function npm(node: string, env: NodeJS.ProcessEnv, words: string[]): void {
  const program = realpathSync(execFileSync('which', ['npm'], {encoding: 'utf8'}).trim())
  execFileSync(node, [program, 'install', '--no-audit', '--no-fund', '--loglevel=error', ...words], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
