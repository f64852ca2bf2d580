import type {Environment} from '../host/index.ts'
import type {SentImage} from '../image/index.ts'
import type {StepOf} from '../plan/index.ts'
import type {Compared, ProjectToInstall} from '../protocol/index.ts'
import type {AutosaveInput} from './autosave.ts'
import {describeDelta, type Delta} from './delta.ts'
import {digestOf} from './project-files.ts'
import type {Requirements} from './requirements.ts'
import {isNothing, type Synced} from './sync.ts'

/** What travels to a node, by path; the contents are those of the project as long as it is still `tree`. */
export type SyncInput = {
  node: string
  project: string
  /** The project here, and what of it stays here. */
  folder: string
  exclude: string[]
  /** Hash over all of it. */
  tree: string
  /** What the node had when it was looked at, and where. */
  revision: string
  codePath: string
  put: string[]
  remove: string[]
  forget: string[]
  /** Those of `put` whose contents the node does not have. */
  send: string[]
  bytes: number
  /** Also replace what was edited or made on the node. */
  overwrite: boolean
}

/**
 * What an environment is made from: a file of the project, as long as it is what it was. It may hold the password of a
 * package index, so its text is not here.
 */
export type EnvironmentInput = {
  node: string
  project: string
  folder: string
  /** null: no packages. */
  requirements: string | null
  /** Version; null: the node's own. */
  python: string | null
  /** The project itself, where it has a build system. */
  install: ProjectToInstall | null
  /** Digest of the image in which it is made. */
  image: string | null
  /** Of that file and all it includes. */
  digest: string
  hash: string
  path: string
  /** The node whose versions count, so that all have the same; null: these are the only ones, or locked. */
  like: string | null
  /**
   * The node has an environment of the same requirements with other versions, which stays for whoever uses it: this is
   * another one, by those of `like`.
   */
  beside: boolean
  /** Other nodes of this plan get one, too. */
  together: boolean
}

/** An image that the programs of a workspace run in; `text` null: none any more. */
export type ImageInput = {
  node: string
  project: string
  folder: string
  /** workspace.image. */
  text: string | null
  /** What it stands for: pinned. */
  digest: string | null
  /** Digest of the manifest for this node's kind of machine. */
  manifest: string | null
  /** Layers that the node lacks, and how many bytes of them travel. */
  missing: string[]
  bytes: number
  /** flexrack.lock does not say yet what the tag stands for. */
  pin: boolean
  /** Its programs run in a sandbox, too. */
  sandbox: boolean
}

/** What sandboxes need. */
export type ToolInput = {node: string}

export type WorkspaceKinds = {
  'workspace.image': {input: ImageInput; output: SentImage & {node: string}}
  'workspace.tool': {input: ToolInput; output: {node: string}}
  'workspace.autosave': {input: AutosaveInput; output: {node: string}}
  'workspace.sync': {input: SyncInput; output: Synced}
  'workspace.environment': {input: EnvironmentInput; output: Environment & {node: string}}
}

/** A project, and where its parts are from. */
export interface ProjectOrigin {
  project: string
  folder: string
  exclude: string[]
  requirements: string | null
  python: string | null
  install: ProjectToInstall | null
  /** Digest of the manifest of the image that the environment is for. */
  image: string | null
}

/** None where the code is there already. Pure. */
export function syncSteps(
  node: string,
  {project, folder, exclude}: ProjectOrigin,
  tree: string,
  compared: Compared,
  delta: Delta,
  overwrite: boolean,
): StepOf<WorkspaceKinds>[] {
  if (compared.same || isNothing(delta)) return []
  const input: SyncInput = {
    node,
    project,
    folder,
    exclude,
    tree,
    revision: compared.revision,
    codePath: compared.path,
    put: [...delta.put.keys()].sort(),
    remove: delta.remove,
    forget: delta.forget,
    send: [...delta.send.values()].map(({path}) => path),
    bytes: delta.bytes,
    overwrite,
  }
  return [
    {
      id: `sync:${node}`,
      node,
      kind: 'workspace.sync',
      title: `Sync code (${describeDelta(delta, compared)})`,
      input,
      needs: [],
    },
  ]
}

/** Requirements that come to the very versions that another node has. Pure. */
export const constraintsWith = (constraints: string, pins: string): string => `${constraints}${pins}`

/** What a node says of an environment. */
export interface InspectedEnvironment {
  hash: string
  path: string
  ready: boolean
  noted: boolean
  python: string
  by: 'node' | 'flexrack' | 'uv' | 'image'
  versions?: string
  /** Whether the code is there as it is here. */
  synced: boolean
}

/** None where it is there already, and noted as this project's. Pure. */
export function environmentSteps(
  node: string,
  {project, folder, requirements: file, python: version, install, image}: ProjectOrigin,
  wanted: Requirements,
  {hash, path, ready, noted, python, by, synced}: InspectedEnvironment,
  {like, beside, together, imageComes}: {like: string | null; beside: boolean; together: boolean; imageComes: boolean},
): StepOf<WorkspaceKinds>[] {
  if (ready && noted) return []
  // neither hashes nor options
  const number = wanted.requirements
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s*--?[a-z]/.test(line)).length
  const count = number === 1 ? '1 requirement' : `${number} requirements`
  const versions = beside ? `, with the versions of ${like}` : ''
  const title = ready
    ? `Use the Python environment ${hash}, which is there${versions}`
    : `Build the Python environment ${hash} (${by === 'image' ? "the image's Python" : `Python ${python}`}${by === 'uv' ? ', which uv installs' : ''}, ${count}${versions}${install ? ', and the project itself' : ''})`
  const input: EnvironmentInput = {
    node,
    project,
    folder,
    requirements: file,
    python: version,
    install,
    image,
    digest: digestOf(wanted),
    hash,
    path,
    like: ready && !beside ? null : like,
    beside,
    together,
  }
  return [
    {
      id: `environment:${node}`,
      node,
      kind: 'workspace.environment',
      title,
      input,
      needs: [
        ...(install && !synced ? [`sync:${node}`] : []),
        ...(image === null || !imageComes ? [] : [`image:${node}`]),
      ],
    },
  ]
}
