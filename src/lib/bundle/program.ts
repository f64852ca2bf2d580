import {execFile} from 'node:child_process'
import {createReadStream, existsSync} from 'node:fs'
import {cp, mkdtemp, readFile, rename, rm, writeFile} from 'node:fs/promises'
import {dirname, join, relative} from 'node:path'
import {promisify} from 'node:util'
import {createGunzip} from 'node:zlib'
import {unpackFiles} from '../artifact/index.ts'
import {CliError, ownRoot, type Context} from '../base/index.ts'

interface PackageFile {
  name: string
  version: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

const readPackage = async (folder: string): Promise<PackageFile> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as PackageFile

/** Where this flexrack has not what it needs to be packed; a sentence. */
export function missingOfProgram(machines: string[]): {what: string; hint: string; fatal: boolean} | undefined {
  const root = ownRoot()
  if (!existsSync(join(root, 'dist', 'cli', 'main.js')))
    return {what: 'flexrack is not built', hint: 'npm run build', fatal: true}
  const without = machines.filter(
    (machine) => !existsSync(join(root, 'native', 'prebuilt', `linux-${machine}`, 'flexrack-gpud')),
  )
  if (without.length > 0)
    return {
      what: `the native layer is not built for ${without.join(' and ')}: the flexrack in the bundle has no remote GPUs there`,
      hint: 'npm run build:portable',
      fatal: false,
    }
  return undefined
}

/**
 * This very flexrack as a file for `npm install`, with all packages that it runs with: nothing is asked of a registry.
 * Its path, below `folder`.
 */
export async function packProgram(folder: string, context: Context): Promise<string> {
  const root = ownRoot()
  const temp = await mkdtemp(join(folder, '.program-'))
  try {
    const packed = await npmPack(root, temp, context)
    await unpackFiles(createReadStream(packed).pipe(createGunzip()), temp, {signal: context.signal})
    const target = join(temp, 'package')
    await removeOldChunks(root, target)
    await copyDependencies(root, target)
    const {
      scripts: _scripts,
      devDependencies: _dev,
      ...own
    } = (await readPackage(target)) as PackageFile & Record<string, unknown>
    await writeFile(join(target, 'package.json'), JSON.stringify({...own, bundleDependencies: true}, undefined, 2))
    const whole = await npmPack(target, temp, context)
    const file = join(folder, `flexrack-${own.version}.tgz`)
    await rename(whole, file)
    return file
  } finally {
    await rm(temp, {recursive: true, force: true})
  }
}

/** A checkout keeps what earlier builds made, for commands that still run (scripts/build.ts): none of it travels. */
async function removeOldChunks(root: string, target: string): Promise<void> {
  const gone = JSON.parse(await readFile(join(root, 'dist', '.gone'), 'utf8').catch(() => '{}')) as object
  for (const chunk of Object.keys(gone))
    if (/^chunks\/[^/]+$/.test(chunk)) await rm(join(target, 'dist', chunk), {force: true})
}

async function npmPack(folder: string, to: string, {env, signal}: Context): Promise<string> {
  const {version} = await readPackage(folder)
  try {
    await promisify(execFile)('npm', ['pack', '--ignore-scripts', '--silent', '--offline', '--pack-destination', to], {
      cwd: folder,
      env: env as NodeJS.ProcessEnv,
      signal,
      maxBuffer: 64 << 20,
    })
  } catch (error) {
    if (signal.aborted) throw new CliError('INTERRUPTED', 'interrupted')
    throw new CliError(
      'LOCAL_FAILED',
      `npm could not pack flexrack: ${((error as {stderr?: string}).stderr ?? (error as Error).message).trim().split('\n').at(-1)}`,
      {hint: 'npm comes with Node.js'},
    )
  }
  return join(to, `flexrack-${version}.tgz`)
}

/** Each package as it is found from here, hoisted where no other version is in the way. */
async function copyDependencies(root: string, target: string): Promise<void> {
  const placed = new Map<string, string>()
  const seen = (from: string, name: string): string | undefined => {
    for (let at = from; ; at = dirname(at)) {
      const found = placed.get(join(at, 'node_modules', name))
      if (found !== undefined || at === target || relative(target, at).startsWith('..')) return found
    }
  }
  const walk = async (source: string, at: string): Promise<void> => {
    const {dependencies = {}, optionalDependencies = {}, peerDependencies = {}} = await readPackage(source)
    for (const name of Object.keys({...peerDependencies, ...optionalDependencies, ...dependencies})) {
      const found = findPackage(source, name)
      if (found === undefined) {
        if (name in dependencies && !(name in optionalDependencies))
          throw new CliError('LOCAL_FAILED', `this installation of flexrack lacks the package ${name}`, {
            hint: 'install flexrack anew',
          })
        continue
      }
      // npm would compile it at the installation, with headers from the internet, and fail; who takes it as optional
      // does without it.
      if (!(name in dependencies) && existsSync(join(found, 'binding.gyp'))) continue
      const there = seen(at, name)
      if (there === found) continue
      const place = join(there === undefined ? target : at, 'node_modules', name)
      placed.set(place, found)
      await cp(found, place, {
        recursive: true,
        dereference: false,
        filter: (path) => relative(found, path).split('/')[0] !== 'node_modules',
      })
      await walk(found, place)
    }
  }
  await walk(root, target)
}

function findPackage(from: string, name: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const found = join(at, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return found
    if (dirname(at) === at) return undefined
  }
}
