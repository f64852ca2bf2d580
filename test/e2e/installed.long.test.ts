import {execFileSync} from 'node:child_process'
import {readdirSync, readFileSync, statSync} from 'node:fs'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {PRODUCTS} from '../../scripts/build-native.ts'
import {MACHINES} from '../../scripts/portable/machines.ts'
import {findFaults, readNeeds} from '../../scripts/portable/needs.ts'
import {lendsGpus} from '../support/packed-gpus.ts'
import {toolless} from '../support/toolless.ts'

const root = resolve(import.meta.dirname, '../..')
/** Bytes of the packed file; it is on every laptop that installs flexrack. */
const LARGEST = 40 * 1024 ** 2
let folder: string
let packed: string
let path: string

// Builds what is missing for both kinds of machine: a quarter of an hour of two cores where nothing is kept.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-installed-'))
  execFileSync('npm', ['pack', '--pack-destination', folder], {cwd: root, stdio: ['ignore', 'ignore', 'inherit']})
  packed = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) as string)
  path = await toolless(join(folder, 'programs'))
}, 3_600_000)
afterAll(() => rm(folder, {recursive: true, force: true}))

it('the package has binaries for both kinds of machine, which need nothing but an old C library', () => {
  execFileSync('tar', ['-xzf', packed, '-C', folder])
  expect(statSync(packed).size).toBeLessThan(LARGEST)
  for (const machine of MACHINES) {
    const binaries = join(folder, 'package/native/prebuilt', `linux-${machine.name}`)
    for (const file of Object.values(PRODUCTS).filter((name) => name !== 'flexrack-ptx-passthrough')) expect([file, findFaults(readNeeds(join(binaries, file)))]).toEqual([file, []])
    expect(JSON.parse(readFileSync(join(binaries, 'built.json'), 'utf8'))).toMatchObject({machine: machine.name, glibc: '2.28'})
  }
})

it.each(['22', '24'])('installed with Node %s on a machine without a compiler, it lends GPUs', async (version) => {
  const [prefix, node] = [join(folder, `prefix-${version}`), join(folder, `node-${version}`)]
  // The binary of that version, as npm has it; its own install script would run before.
  execFileSync('npm', ['install', '--prefix', node, '--no-audit', '--no-fund', '--loglevel=error', `node-${process.platform}-${process.arch}@${version}`], {stdio: ['ignore', 'ignore', 'inherit']})
  const program = join(node, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin/node')
  const npm = execFileSync('which', ['npm'], {encoding: 'utf8'}).trim()
  execFileSync(npm, ['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', '--loglevel=error', packed], {env: {...process.env, PATH: `${path}:${process.env.PATH}`}, stdio: ['ignore', 'ignore', 'inherit']})
  await lendsGpus(`'${program}' '${join(prefix, 'bin/flexrack')}'`, {FLEXRACK_HOME: join(folder, `home-${version}`), PATH: path})
})
