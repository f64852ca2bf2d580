// npm run build:native: flexrack-gpud, flexrack-lease-keeper, flexrack-bench and the drivers, into
// native/build/release. Skips what is up to date, by content.
import {execFileSync, spawnSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {existsSync, globSync} from 'node:fs'
import {mkdir, readFile, rename, writeFile} from 'node:fs/promises'
import {join, resolve} from 'node:path'

const root = resolve(import.meta.dirname, '..')
const folder = join(root, 'native/build/release')
const stampFile = join(folder, '.sources')
/** What users need; tests are built elsewhere. */
export const PRODUCTS: Readonly<Record<string, string>> = {
  'flexrack-gpud': 'flexrack-gpud',
  'flexrack-lease-keeper': 'flexrack-lease-keeper',
  'flexrack-bench': 'flexrack-bench',
  'flexrack-opencl': 'libflexrack-opencl.so',
  'flexrack-cuda': 'libflexrack-cuda.so',
  'flexrack-nvml': 'libflexrack-nvml.so',
  'flexrack-nccl': 'libflexrack-nccl.so',
  'flexrack-sim': 'libflexrack-sim.so',
  'flexrack-sim-nvml': 'libflexrack-sim-nvml.so',
  'ptx-passthrough': 'flexrack-ptx-passthrough',
}

if (process.argv[1] === import.meta.filename) {
  await buildNative({force: process.argv.includes('--force')}).catch((error: Error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}

/**
 * Builds where something has changed. Two at once are one after the other. Throws with the Debian packages to install,
 * or what the compiler said above.
 */
export async function buildNative({force = false}: {force?: boolean} = {}): Promise<void> {
  const sources = await hashSources(['scripts/build-native.ts'])
  if (!force && (await isCurrent(sources))) return
  const packages = missingPackages()
  if (packages.length > 0)
    throw new Error(
      `The native layer cannot be built here without ${packages.join(', ')}.\n  try: sudo apt-get install ${packages.join(' ')}`,
    )
  console.error('Building the native layer (the first time takes some minutes) ...')
  await mkdir(folder, {recursive: true})
  configure()
  run(['cmake', '--build', folder, '--parallel', '--target', ...Object.keys(PRODUCTS)])
  for (const [target, file] of Object.entries(PRODUCTS))
    if (target !== 'ptx-passthrough') await strip(join(folder, file))
  await writeFile(`${stampFile}.${process.pid}`, sources)
  await rename(`${stampFile}.${process.pid}`, stampFile)
}

/**
 * Without debug information they travel to nodes in a quarter of the time. Renamed into place: a running program's file
 * cannot be written.
 */
async function strip(file: string): Promise<void> {
  const done = spawnSync('strip', ['--strip-debug', '-o', `${file}.stripped`, file], {stdio: ['ignore', 2, 2]})
  if (done.status === 0) await rename(`${file}.stripped`, file)
}

async function isCurrent(hash: string): Promise<boolean> {
  return (
    Object.values(PRODUCTS).every((file) => existsSync(join(folder, file))) &&
    (await readFile(stampFile, 'utf8').catch(() => '')) === hash
  )
}

/** `besides`: files that say how it is built. */
export async function hashSources(besides: string[]): Promise<string> {
  const hash = createHash('sha256')
  const files = globSync(
    ['native/**/*.{cpp,h,c,inc,txt,cmake,map,in,profile,sh}', 'native/CMakePresets.json', ...besides],
    {cwd: root, exclude: ['native/build', 'native/test']},
  )
  for (const file of files.sort())
    hash
      .update(`${file}\0`)
      .update(await readFile(join(root, file)))
      .update('\0')
  return hash.digest('hex')
}

/** Debian's names of what lacks. Libraries are linked statically, so that a node needs none of them. */
function missingPackages(): string[] {
  const compiler = process.env.CXX ?? 'c++'
  const missing = has('cmake') ? [] : ['cmake']
  if (!has('ninja') && !has('make')) missing.push('ninja-build')
  if (!has(compiler)) return [...missing, 'g++', 'libssl-dev', 'libzstd-dev', 'liblz4-dev']
  // The compiler gives a file it knows with its folder, and one it does not as it was asked.
  const isThere = (library: string): boolean =>
    execFileSync(compiler, [`-print-file-name=${library}`], {encoding: 'utf8'}).trim() !== library
  if (!isThere('libssl.a') || !isThere('libcrypto.a')) missing.push('libssl-dev')
  if (!isThere('libzstd.a')) missing.push('libzstd-dev')
  if (!isThere('liblz4.a')) missing.push('liblz4-dev')
  return missing
}

function configure(): void {
  const isNew = !existsSync(join(folder, 'CMakeCache.txt'))
  run(['cmake', '--preset', 'release', ...(isNew && !has('ninja') ? ['-G', 'Unix Makefiles'] : [])])
}

export function has(program: string): boolean {
  return spawnSync(program, ['--version'], {stdio: 'ignore'}).status === 0
}

/** One build at a time: flock(1) is part of every Linux. What the tools say goes to stderr. */
function run(words: string[]): void {
  const done = spawnSync('flock', [join(root, 'native/build/lock'), ...words], {
    cwd: join(root, 'native'),
    stdio: ['ignore', 2, 2],
  })
  if (done.error) throw new Error(`flock does not start: ${done.error.message}`)
  if (done.status !== 0) throw new Error(`${words.slice(0, 2).join(' ')} failed (status ${done.status ?? done.signal})`)
}
