/**
 * npm run build:portable                the native layer as the package has it, into native/prebuilt/linux-MACHINE
 * npm run build:portable -- aarch64     for this kind of machine
 *
 * It runs with any glibc from 2.28 on, and needs no package there. Skips what is up to date, by content; --force does
 * not.
 */
import {spawnSync} from 'node:child_process'
import {existsSync} from 'node:fs'
import {chmod, copyFile, cp, mkdir, readFile, rename, rm, writeFile} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {has, hashSources, PRODUCTS} from './build-native.ts'
import {bringLibraries} from './portable/libraries.ts'
import {machineOf, OLDEST_GLIBC, PACKAGED, type Machine} from './portable/machines.ts'
import {findFaults, readNeeds} from './portable/needs.ts'
import {bringZig, copyLicence, toolEnvironment, writeTools} from './portable/zig.ts'

const root = resolve(import.meta.dirname, '..')
const built = join(root, 'native/build/portable')

/** Where the binaries of a machine are for who packs or uses them. */
export const prebuilt = (machine: Machine): string => join(root, 'native/prebuilt', `linux-${machine.name}`)

if (process.argv[1] === import.meta.filename) {
  const names = process.argv.slice(2).filter((word) => !word.startsWith('--'))
  try {
    for (const machine of names.length > 0 ? names.map(machineOf) : PACKAGED)
      await buildPortable(machine, {force: process.argv.includes('--force')})
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  }
}

/** Throws an Error where a tool or library cannot be had, does not compile, or a product needs more than it may. */
export async function buildPortable(machine: Machine, {force = false}: {force?: boolean} = {}): Promise<void> {
  const sources = await hashSources(['scripts/build-portable.ts', 'scripts/portable/*.ts', 'scripts/toolchain.txt'])
  if (!force && (await isCurrent(machine, sources))) return
  await makeProducts(machine, Object.keys(PRODUCTS), prebuilt(machine), sources)
}

/** Some of the products, by the names of their targets, into a folder that has nothing else then. */
export async function makeProducts(machine: Machine, targets: string[], folder: string, sources = ''): Promise<void> {
  const missing = [has('cmake') ? '' : 'cmake', has('ninja') ? '' : 'ninja-build'].filter(Boolean)
  if (missing.length > 0)
    throw new Error(
      `The native layer cannot be built here without ${missing.join(', ')}.\n  try: sudo apt-get install ${missing.join(' ')}`,
    )
  console.error(
    `Building the native layer for ${machine.name} and glibc ${OLDEST_GLIBC} (the first time takes some minutes) ...`,
  )
  const zig = bringZig()
  const [tools, build, env] = [
    join(built, `${machine.name}-tools`),
    join(built, machine.name),
    toolEnvironment(zig, machine),
  ]
  await writeTools(zig, machine, tools)
  const linked = await bringLibraries(machine, tools)
  run(
    ['cmake', '--preset', 'portable', '-B', build, `-DFLEXRACK_TOOLS=${tools}`, `-DFLEXRACK_MACHINE=${machine.name}`],
    env,
  )
  run(['cmake', '--build', build, '--parallel', '--target', ...targets], env)
  const files = targets.map((target) => PRODUCTS[target] ?? '')
  for (const file of files) checkProduct(join(build, file))
  await publish(files, build, folder)
  await rm(join(folder, 'licences'), {recursive: true, force: true})
  await cp(join(tools, 'licences'), join(folder, 'licences'), {recursive: true})
  await copyLicence(zig, join(folder, 'licences'))
  await writeFile(
    join(folder, 'built.json'),
    `${JSON.stringify({machine: machine.name, glibc: OLDEST_GLIBC, compiler: `zig ${zig.version}`, linked, sources}, null, 2)}\n`,
  )
}

async function isCurrent(machine: Machine, sources: string): Promise<boolean> {
  const folder = prebuilt(machine)
  const known = await readFile(join(folder, 'built.json'), 'utf8').catch(() => '{}')
  return (
    Object.values(PRODUCTS).every((file) => existsSync(join(folder, file))) &&
    (JSON.parse(known) as {sources?: string}).sources === sources
  )
}

function checkProduct(file: string): void {
  if (file.endsWith('flexrack-ptx-passthrough')) return // a script
  const faults = findFaults(readNeeds(file))
  if (faults.length > 0) throw new Error(`${file} does not run everywhere:\n  ${faults.join('\n  ')}`)
}

/** Renamed into place: a running program's file cannot be written. */
async function publish(files: string[], from: string, to: string): Promise<void> {
  await mkdir(to, {recursive: true})
  for (const file of files) {
    const draft = join(to, `.${file}.${process.pid}`)
    await copyFile(join(from, file), draft)
    await chmod(draft, file.endsWith('.so') ? 0o644 : 0o755)
    await rename(draft, join(to, file))
  }
}

/** One build at a time: flock(1) is part of every Linux. What the tools say goes to stderr. */
function run(words: string[], env: NodeJS.ProcessEnv): void {
  const done = spawnSync('flock', [join(root, 'native/build/lock'), ...words], {
    cwd: join(root, 'native'),
    env,
    stdio: ['ignore', 2, 2],
  })
  if (done.error) throw new Error(`flock does not start: ${done.error.message}`)
  if (done.status !== 0) throw new Error(`${words.slice(0, 2).join(' ')} failed (status ${done.status ?? done.signal})`)
}
