import {createReadStream} from 'node:fs'
import {chmod, lstat, mkdtemp, rename, rm, stat} from 'node:fs/promises'
import {basename, dirname, join, resolve} from 'node:path'
import {unpackFiles} from '../artifact/index.ts'
import {
  CliError,
  count,
  ensurePrivateFolder,
  hashFile,
  textIfThere,
  throwIfInterrupted,
  type Context,
} from '../base/index.ts'
import {bundleFolder} from '../downloads/index.ts'
import type {Handlers, PlanOf} from '../plan/index.ts'
import {MANIFEST, parseManifest, readManifest, type BundledContent, type BundleManifest} from './format.ts'

type ApplyInput = {
  /** Absolute path. */
  file: string
  /** What it is, so that another file of the same name is noticed. */
  madeAt: string
  /** Where everything goes. */
  folder: string
  files: number
  bytes: number
}

export interface AppliedBundle {
  file: string
  /** Version of flexrack that made it, and when. */
  flexrack: string
  made_at: string
  contents: BundledContent[]
  /** How many files came, and how many were there already. */
  placed: number
  there: number
  bytes: number
  folder: string
  /** flexrack itself, for `npm install`; null where the bundle has none. */
  program: string | null
}

export type ApplyKinds = {'bundle.apply': {input: ApplyInput; output: AppliedBundle}}

/** Looks at the manifest alone. Errors: those of readManifest. */
async function plan(file: string, {env}: Context): Promise<PlanOf<ApplyKinds>> {
  const path = resolve(file)
  const {made_at: madeAt, files, flexrack} = await readManifest(path)
  const input: ApplyInput = {
    file: path,
    madeAt,
    folder: bundleFolder(env),
    files: files.length,
    bytes: files.reduce((sum, {size}) => sum + size, 0),
  }
  const title = `Verify ${count(input.files, 'file')} (${Math.ceil(input.bytes / 1e6)} MB) of ${basename(file)}, made by flexrack ${flexrack}, and put them into ${input.folder}`
  return {command: 'bundle apply', steps: [{id: 'apply', node: null, kind: 'bundle.apply', title, input, needs: []}]}
}

const handlers: Handlers<ApplyKinds, {context: Context}> = {'bundle.apply': apply}

/** A bundle, put where environments find it. */
export const APPLY = {plan, handlers}

/** Nothing of it counts before all of it was verified. */
async function apply(
  {file, madeAt, folder}: ApplyInput,
  _done: unknown,
  {context}: {context: Context},
): Promise<AppliedBundle> {
  await ensurePrivateFolder(folder)
  const draft = await mkdtemp(join(folder, '.part-'))
  const progress = context.reporter.begin('Unpack and verify the bundle')
  try {
    const total = (await stat(file)).size
    const broken = await unpackFiles(createReadStream(file, {highWaterMark: 1 << 20}), draft, {
      signal: context.signal,
      onBytes: (bytes) => progress.amount(bytes, total, 'bytes'),
    }).then(
      ({files}) => ({files}),
      (error: Error) => ({error}),
    )
    throwIfInterrupted(context.signal)
    if (
      'error' in broken &&
      ['ENOSPC', 'EDQUOT', 'EACCES'].includes((broken.error as NodeJS.ErrnoException).code ?? '')
    )
      throw broken.error
    const manifest = parseManifest(file, (await textIfThere(join(draft, MANIFEST))) ?? '')
    if (manifest.made_at !== madeAt)
      throw new CliError('CONFLICT', `${file} is another file than when this was planned`, {
        hint: 'run the command again',
      })
    await verify(file, draft, manifest, context)
    if ('error' in broken)
      throw new CliError('CONFLICT', `${file} is damaged: ${broken.error.message}`, {hint: 'copy the file again'})
    const strange = broken.files.find((one) => one !== MANIFEST && !manifest.files.some(({path}) => path === one))
    if (strange !== undefined)
      throw new CliError('CONFLICT', `${file} has ${strange}, which its manifest does not name`, {
        details: {file: strange},
      })
    const placed = await place(draft, folder, manifest)
    progress.done()
    const program = manifest.files.find(({path}) => path.startsWith('program/'))
    return {
      file,
      flexrack: manifest.flexrack,
      made_at: manifest.made_at,
      contents: manifest.contents,
      placed,
      there: manifest.files.length - placed,
      bytes: manifest.files.reduce((sum, {size}) => sum + size, 0),
      folder,
      program: program ? join(folder, program.path) : null,
    }
  } catch (error) {
    progress.fail()
    throw error
  } finally {
    await rm(draft, {recursive: true, force: true})
  }
}

async function verify(file: string, draft: string, {files}: BundleManifest, {signal}: Context): Promise<void> {
  for (const {path, size, sha256} of files) {
    throwIfInterrupted(signal)
    const there = await lstat(join(draft, path)).then(
      (one) => (one.isFile() ? one.size : undefined),
      () => undefined,
    )
    const why =
      there === undefined
        ? 'is missing'
        : there !== size || (await hashFile(join(draft, path), signal)) !== sha256
          ? 'has another content than its manifest says'
          : undefined
    if (why)
      throw new CliError('CONFLICT', `${file} is damaged: ${path} ${why}; nothing was put in place`, {
        hint: 'copy the file again, or make it anew: flexrack bundle create',
        details: {file: path},
      })
  }
}

/** How many were not there already. */
async function place(draft: string, folder: string, {files}: BundleManifest): Promise<number> {
  let placed = 0
  for (const {path, sha256} of files) {
    const target = join(folder, path)
    if ((await hashFile(target).catch(() => '')) === sha256) continue
    await ensurePrivateFolder(dirname(target))
    await chmod(join(draft, path), 0o600)
    await rename(join(draft, path), target)
    placed++
  }
  return placed
}
