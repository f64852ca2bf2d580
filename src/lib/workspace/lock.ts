import {rename, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {CliError, randomId, textIfThere, type Context} from '../base/index.ts'
import {VERSIONS, type Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Handlers, PlanOf} from '../plan/index.ts'
import {imageLine, LOCK_FILE, lockText} from './lock-file.ts'
import {changedSince, digestOf} from './project-files.ts'
import {namedProject} from './pyproject.ts'
import {hasHashes, isLockedByUv, readSources, staleLock} from './requirements.ts'

type LockInput = {
  node: string
  folder: string
  /** The project's requirements file, and what it says with all it includes. */
  requirements: string
  digest: string
  /** The oldest Python that the lock is for: that of the nodes. */
  python: string
  /** Version of the environments, where the manifest names one; else null. */
  version: string | null
}

export interface Locked {
  /** Absolute path of the lock file. */
  file: string
  /** How many packages it has. */
  packages: number
  /** The oldest Python it is for. */
  python: string
  /** The node that chose the versions, by its package index. */
  node: string
}

export type LockKinds = {'workspace.lock': {input: LockInput; output: Locked}}

const LOCK_HANDLERS: Handlers<LockKinds, {host(node: string): Host | Promise<Host>; context: Context}> = {'workspace.lock': lock}

/** Asks every node for its Python, changes nothing. Errors: USAGE where the project names no requirements. */
async function planLock(hosts: Host[], manifest: Manifest, context: Context): Promise<PlanOf<LockKinds>> {
  const {python: file, pythonVersion: version} = manifest.workspace
  if (file === undefined) throw new CliError('USAGE', 'there is nothing to lock: workspace.python names no requirements file', {hint: 'workspace: {python: requirements.txt}'})
  if (await isLockedByUv(manifest.folder, file)) throw new CliError('USAGE', `the versions for ${file} are in uv.lock already, and nodes install exactly those`, {hint: 'uv lock'})
  const sources = await readSources(manifest.folder, file)
  const pythons = await Promise.all(hosts.map(async (host) => (await host.call('environment.plan', {requirements: '', ...(version !== undefined && {python: version})}, {signal: context.signal})).python))
  const python = oldest(pythons)
  const node = (hosts[0] as Host).node
  const title = `Choose the versions for ${file} on ${node}, for Python ${python} and newer, and write ${LOCK_FILE}`
  return {command: 'lock', steps: [{id: 'lock', node, kind: 'workspace.lock', title, input: {node, folder: manifest.folder, requirements: file, digest: digestOf(sources), python, version: version ?? null}, needs: []}]}
}

/** The lock file of a project: how it is made, and what is wrong with it. */
export const PROJECT_LOCK = {plan: planLock, handlers: LOCK_HANDLERS, stale: staleLock, hasHashes, isPyproject: (python: string): boolean => namedProject(python) !== undefined}

async function lock({node, folder, requirements: file, digest, python, version}: LockInput, _done: unknown, {host, context}: {host(node: string): Host | Promise<Host>; context: Context}): Promise<Locked> {
  const sources = await readSources(folder, file)
  if (digestOf(sources) !== digest) throw changedSince(folder, file)
  const pins = await VERSIONS.choose(await host(node), {...sources, universal: python, ...(version !== null && {python: version})}, context)
  if (pins === undefined) throw new CliError('NODE_UNFIT', `${node} has no uv, which chooses the versions, and gets none`, {hint: 'flexrack lock --on another node', details: {node}})
  const target = join(folder, LOCK_FILE)
  // Whole or not at all: another command may read it now, and a disk may be full.
  const draft = `${target}.${randomId()}`
  try {
    await writeFile(draft, `${lockText(file, sources, python, pins)}${imageLine(await textIfThere(target))}`)
    await rename(draft, target)
  } finally {
    await rm(draft, {force: true})
  }
  return {file: target, packages: pins.split('\n').filter((line) => /^[A-Za-z0-9]/.test(line)).length, python, node}
}

/** Of versions such as 3.11.2, the oldest as 3.11. */
function oldest(versions: string[]): string {
  const minors = versions.map((version) => Number(version.split('.')[1]))
  return `3.${Math.min(...minors)}`
}
