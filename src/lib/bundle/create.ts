import {createWriteStream} from 'node:fs'
import {mkdir, mkdtemp, open, readdir, rename, rm, stat, writeFile} from 'node:fs/promises'
import {basename, dirname, join, resolve} from 'node:path'
import {pipeline} from 'node:stream/promises'
import {packFiles} from '../artifact/index.ts'
import {CliError, hashFile, ownVersion, throwIfInterrupted, withProgress, type Context} from '../base/index.ts'
import {WHEELS} from '../host/index.ts'
import type {Handlers, PlanOf, StepOf} from '../plan/index.ts'
import {FORMAT, MANIFEST, type BundledContent, type BundledFile, type BundleManifest} from './format.ts'
import {missingOfProgram, packProgram} from './program.ts'
import {broughtFor, lockOf, versionsFor, type WheelSource} from './sources.ts'

export interface BundleWish {
  /** File to write. */
  to: string
  /** Of the nodes: x86_64, aarch64. */
  machines: string[]
  /** Versions of Python there, 3.11. */
  pythons: string[]
  program: boolean
  sources: WheelSource[]
  /** What saves workspaces on nodes that have none. */
  restic?: boolean
}

export interface MadeBundle {
  file: string
  bytes: number
  sha256: string
  files: number
  contents: BundledContent[]
}

export type CreateKinds = {
  'bundle.program': {input: {version: string}; output: void}
  'bundle.uv': {input: {machine: string; version: string}; output: void}
  'bundle.restic': {input: {machine: string; version: string}; output: void}
  'bundle.python': {input: {machine: string; python: string}; output: void}
  'bundle.wheels': {input: {source: WheelSource; machine: string; python: string}; output: void}
  'bundle.write': {input: {to: string; flexrack: string; contents: BundledContent[]}; output: MadeBundle}
}

export interface CreateEnv {
  /** Where files are gathered: beside the bundle, as they may be large. */
  draft: string
  context: Context
}

const handlers: Handlers<CreateKinds, CreateEnv> = {
  'bundle.program': program,
  'bundle.uv': uv,
  'bundle.restic': restic,
  'bundle.python': python,
  'bundle.wheels': wheels,
  'bundle.write': write,
}

/** A bundle, made where there is internet. `draft` makes the folder that the steps need, and is to be removed. */
export const CREATE = {plan, handlers, draft: makeDraft}

/** Asks nothing of any network. Errors: those of the lock files. */
async function plan(
  {to, machines, pythons, program: withProgram, sources, restic: withRestic}: BundleWish,
  {env, reporter}: Context,
): Promise<PlanOf<CreateKinds>> {
  const flexrack = await ownVersion()
  const steps: StepOf<CreateKinds>[] = []
  const contents: BundledContent[] = []
  if (withProgram) {
    const missing = missingOfProgram(machines)
    if (missing?.fatal) throw new CliError('LOCAL_FAILED', missing.what, {hint: missing.hint})
    if (missing) reporter.warn(`${missing.what} (${missing.hint})`)
    steps.push({
      id: 'program',
      node: null,
      kind: 'bundle.program',
      title: `Pack flexrack ${flexrack} with all it runs with`,
      input: {version: flexrack},
      needs: [],
    })
    contents.push({name: 'program'})
  }
  for (const machine of machines) {
    const version = WHEELS.uvVersion()
    steps.push({
      id: `uv:${machine}`,
      node: null,
      kind: 'bundle.uv',
      title: `Fetch uv ${version} for ${machine}`,
      input: {machine, version},
      needs: [],
    })
    contents.push({name: 'uv', machine})
  }
  for (const machine of withRestic ? machines : []) {
    const version = WHEELS.resticVersion()
    steps.push({
      id: `restic:${machine}`,
      node: null,
      kind: 'bundle.restic',
      title: `Fetch restic ${version} for ${machine}, which saves workspaces where nodes have none`,
      input: {machine, version},
      needs: [],
    })
    contents.push({name: 'restic', machine})
  }
  const brought = [
    ...new Set(
      (await Promise.all(sources.map((source) => broughtFor(source, pythons, env)))).flatMap((one) => one ?? []),
    ),
  ]
  for (const machine of machines) {
    for (const one of brought) {
      contents.push({name: 'python', machine, python: one})
      const needs = steps
        .filter((step) => step.kind === 'bundle.python' || step.kind === 'bundle.uv')
        .map((step) => step.id)
      steps.push({
        id: `python:${one}:${machine}`,
        node: null,
        kind: 'bundle.python',
        title: `Fetch Python ${one} for ${machine}, which uv installs where nodes lack it`,
        input: {machine, python: one},
        needs,
      })
    }
  }
  for (const source of sources) {
    const lock = await lockOf(source, env)
    if (lock.trim() === '') continue
    for (const machine of machines) {
      for (const python of await versionsFor(source, pythons, brought, env)) {
        contents.push({name: source.name, machine, python})
        // One after the other: they share a folder.
        const needs = steps
          .filter((step) => step.kind === 'bundle.wheels')
          .slice(-1)
          .map((step) => step.id)
        steps.push({
          id: `wheels:${source.name}:${python}:${machine}`,
          node: null,
          kind: 'bundle.wheels',
          title: `Fetch the packages of ${source.name} for Python ${python} on ${machine}`,
          input: {source, machine, python},
          needs,
        })
      }
    }
  }
  steps.push({
    id: 'write',
    node: null,
    kind: 'bundle.write',
    title: `Write ${resolve(to)}, with a hash of every file`,
    input: {to: resolve(to), flexrack, contents},
    needs: steps.map((step) => step.id),
  })
  return {command: 'bundle create', steps}
}

async function makeDraft(to: string): Promise<string> {
  const folder = dirname(resolve(to))
  await mkdir(folder, {recursive: true})
  const draft = await mkdtemp(join(folder, `.${basename(to)}-`))
  for (const name of ['wheels', 'uv', 'restic', 'pythons', 'program']) await mkdir(join(draft, name))
  return draft
}

async function program({version}: {version: string}, _done: unknown, {draft, context}: CreateEnv): Promise<void> {
  await withProgress(context.reporter, [`Pack flexrack ${version}`], () => packProgram(join(draft, 'program'), context))
}

async function uv({machine}: {machine: string}, _done: unknown, {draft, context}: CreateEnv): Promise<void> {
  const {name, bytes} = await WHEELS.uv(machine, context)
  await writeFile(join(draft, 'uv', name), bytes)
}

async function restic({machine}: {machine: string}, _done: unknown, {draft, context}: CreateEnv): Promise<void> {
  const {name, bytes} = await WHEELS.restic(machine, context)
  await writeFile(join(draft, 'restic', name), bytes)
}

async function python(
  {machine, python: version}: {machine: string; python: string},
  _done: unknown,
  {draft, context}: CreateEnv,
): Promise<void> {
  await withProgress(context.reporter, [`Fetch Python ${version} for ${machine}`], () =>
    WHEELS.python({folder: join(draft, 'pythons'), machine, python: version}, context),
  )
}

async function wheels(
  {source, machine, python}: {source: WheelSource; machine: string; python: string},
  _done: unknown,
  {draft, context}: CreateEnv,
): Promise<void> {
  const progress = context.reporter.begin(`Fetch the packages of ${source.name} for Python ${python} on ${machine}`)
  const lock = await lockOf(source, context.env)
  try {
    await WHEELS.fetch({folder: join(draft, 'wheels'), machine, python, lock}, context, (line) => {
      const file = /^\s*Downloading (\S+)/.exec(line)?.[1]?.split('/').at(-1)
      if (file !== undefined) progress.detail(`downloading ${file}`)
    })
    progress.done()
  } catch (error) {
    progress.fail()
    if (!(error instanceof CliError) || error.code !== 'REMOTE_FAILED') throw error
    const lacking = /No matching distribution found for ([^\s)]+)/.exec(error.message)?.[1]
    throw new CliError(
      'REMOTE_FAILED',
      lacking
        ? `the package index has no wheel of ${lacking} for Python ${python} on ${machine}, which ${source.name} needs`
        : `the packages of ${source.name} could not be fetched: ${error.message}`,
      {
        hint: lacking ? 'a bundle has wheels only: choose another version of it, or of Python' : undefined,
        details: {source: source.name, machine, python},
        cause: error,
      },
    )
  }
}

async function write(
  {to, flexrack, contents}: {to: string; flexrack: string; contents: BundledContent[]},
  _done: unknown,
  {draft, context}: CreateEnv,
): Promise<MadeBundle> {
  const progress = context.reporter.begin(`Write ${basename(to)}`)
  const files: BundledFile[] = []
  for (const folder of ['program', 'uv', 'restic', 'pythons', 'wheels']) {
    for (const name of (await readdir(join(draft, folder))).sort()) {
      throwIfInterrupted(context.signal)
      const path = `${folder}/${name}`
      files.push({
        path,
        size: (await stat(join(draft, path))).size,
        sha256: await hashFile(join(draft, path), context.signal),
      })
    }
  }
  const total = files.reduce((sum, {size}) => sum + size, 0)
  const manifest: BundleManifest = {format: FORMAT, flexrack, made_at: new Date().toISOString(), contents, files}
  await writeFile(join(draft, MANIFEST), `${JSON.stringify(manifest, undefined, 1)}\n`)
  const part = join(draft, 'bundle')
  const stream = await packFiles(draft, [MANIFEST, ...files.map(({path}) => path)])
  let done = 0
  stream.on('data', (chunk: Buffer) => progress.amount(Math.min((done += chunk.length), total), total, 'bytes'))
  await pipeline(stream, createWriteStream(part, {mode: 0o644}), {signal: context.signal})
  const handle = await open(part)
  await handle.sync()
  await handle.close()
  await rename(part, to)
  progress.done()
  return {file: to, bytes: (await stat(to)).size, sha256: await hashFile(to), files: files.length, contents}
}

/** For who made the draft. */
export const removeDraft = (draft: string): Promise<void> => rm(draft, {recursive: true, force: true})
