import {rename, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {CliError, randomId, textIfThere, type Context} from '../base/index.ts'
import {VERSIONS, type Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Handlers, PlanOf} from '../plan/index.ts'
import {bringImage} from './handlers.ts'
import {imageSteps, inspectImage, readImage} from './image.ts'
import {imageLine, LOCK_FILE, lockText} from './lock-file.ts'
import {findWorkspaces} from './place.ts'
import {changedSince, digestOf, ProjectFiles} from './project-files.ts'
import {namedProject} from './pyproject.ts'
import {hasHashes, isLockedByUv, readSources, staleLock} from './requirements.ts'
import type {WorkspaceKinds} from './steps.ts'

type LockInput = {
  node: string
  folder: string
  /** The project's requirements file, and what it says with all it includes. */
  requirements: string
  digest: string
  /**
   * The oldest Python that the lock is for: that of the nodes; null: that of the image, which is asked once it is
   * there.
   */
  python: string | null
  /** Version of the environments, where the manifest names one; else null. */
  version: string | null
  /** Digest of the image's manifest on the node; null: environments are of the node's own Python. */
  image: string | null
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

export type LockKinds = {'workspace.lock': {input: LockInput; output: Locked}} & Pick<WorkspaceKinds, 'workspace.image'>

interface LockEnv {
  host(node: string): Host | Promise<Host>
  context: Context
}

const LOCK_HANDLERS: Handlers<LockKinds, LockEnv> = {
  'workspace.lock': lock,
  'workspace.image': (input, done, env) => bringImage(input, done, {...env, files: new ProjectFiles()}),
}

/**
 * Asks every node for its Python, changes nothing. With an image its Python counts, which is the same on all nodes: the
 * first one gets the image, if it has it not yet. Errors: USAGE where the project names no requirements; those of
 * images.
 */
async function planLock(hosts: Host[], manifest: Manifest, context: Context): Promise<PlanOf<LockKinds>> {
  const {python: file, pythonVersion: version} = manifest.workspace
  if (file === undefined)
    throw new CliError('USAGE', 'there is nothing to lock: workspace.python names no requirements file', {
      hint: 'workspace: {python: requirements.txt}',
    })
  if (await isLockedByUv(manifest.folder, file))
    throw new CliError('USAGE', `the versions for ${file} are in uv.lock already, and nodes install exactly those`, {
      hint: 'uv lock',
    })
  const sources = await readSources(manifest.folder, file)
  const chooser = hosts[0] as Host
  if (manifest.workspace.image !== undefined)
    return planInImage(chooser, manifest, {file, digest: digestOf(sources)}, context)
  const pythons = await Promise.all(
    hosts.map(
      async (host) =>
        (
          await host.call(
            'environment.plan',
            {requirements: '', ...(version !== undefined && {python: version})},
            {signal: context.signal},
          )
        ).python,
    ),
  )
  const python = oldest(pythons)
  const {node} = chooser
  const title = `Choose the versions for ${file} on ${node}, for Python ${python} and newer, and write ${LOCK_FILE}`
  return {
    command: 'lock',
    steps: [
      {
        id: 'lock',
        node,
        kind: 'workspace.lock',
        title,
        input: {
          node,
          folder: manifest.folder,
          requirements: file,
          digest: digestOf(sources),
          python,
          version: version ?? null,
          image: null,
        },
        needs: [],
      },
    ],
  }
}

async function planInImage(
  host: Host,
  manifest: Manifest,
  {file, digest}: {file: string; digest: string},
  context: Context,
): Promise<PlanOf<LockKinds>> {
  const {node} = host
  const {name, folder, workspace} = manifest
  const wanted = await readImage(new ProjectFiles(), manifest, context)
  const found = wanted && (await inspectImage(host, wanted, workspace.isolate !== undefined, context))
  const [noted] = await findWorkspaces(host, name, context)
  const comes = imageSteps(node, name, folder, workspace.image, wanted, found, noted?.image ?? undefined)
  const title = `Choose the versions for ${file} on ${node}, for the Python of ${found?.image.ref ?? ''} and newer, and write ${LOCK_FILE}`
  const input = {
    node,
    folder,
    requirements: file,
    digest,
    python: null,
    version: workspace.pythonVersion ?? null,
    image: found?.image.manifest ?? null,
  }
  return {
    command: 'lock',
    steps: [...comes, {id: 'lock', node, kind: 'workspace.lock', title, input, needs: comes.map(({id}) => id)}],
  }
}

/** The lock file of a project: how it is made, and what is wrong with it. */
export const PROJECT_LOCK = {
  plan: planLock,
  handlers: LOCK_HANDLERS,
  stale: staleLock,
  hasHashes,
  isPyproject: (python: string): boolean => namedProject(python) !== undefined,
}

async function lock(
  {node, folder, requirements: file, digest, python: known, version, image}: LockInput,
  _done: unknown,
  {host, context}: LockEnv,
): Promise<Locked> {
  const sources = await readSources(folder, file)
  if (digestOf(sources) !== digest) throw changedSince(folder, file)
  const chooser = await host(node)
  const python = known ?? oldest([await pythonOfImage(chooser, image as string, version, context)])
  // The image's own Python is none of the node's: its version is what the choice needs.
  const pins = await VERSIONS.choose(
    chooser,
    {...sources, universal: python, ...(version !== null && image === null && {python: version})},
    context,
  )
  if (pins === undefined)
    throw new CliError('NODE_UNFIT', `${node} has no uv, which chooses the versions, and gets none`, {
      hint: 'flexrack lock --on another node',
      details: {node},
    })
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

/** Errors: NODE_UNFIT where the image has none. */
async function pythonOfImage(host: Host, image: string, version: string | null, context: Context): Promise<string> {
  const {python} = await host.call('image.python', {image, python: version}, {signal: context.signal})
  if (python !== null) return python
  throw new CliError('NODE_UNFIT', `the image has no python${version ?? '3'}, which its environments are made from`, {
    hint: 'take an image with Python, or leave workspace.python out',
    details: {node: host.node},
  })
}

/** Of versions such as 3.11.2, the oldest as 3.11. */
function oldest(versions: string[]): string {
  const minors = versions.map((version) => Number(version.split('.')[1]))
  return `3.${Math.min(...minors)}`
}
