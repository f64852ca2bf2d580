import {createHash} from 'node:crypto'
import {CliError, type Context} from '../base/index.ts'
import {ImageFiles} from '../image/index.ts'
import {readRequirements, type Requirements} from './requirements.ts'
import {takeSnapshot, type Snapshot} from './snapshot.ts'

/**
 * What one command has read of projects on this machine: once, however many nodes and steps need it. A plan refers to
 * it by its hashes.
 */
export class ProjectFiles {
  readonly #snapshots = new Map<string, Promise<Snapshot>>()
  readonly #requirements = new Map<string, Promise<Requirements>>()
  readonly #images = new Map<string, ImageFiles>()
  readonly #acts = new Map<string, Promise<void>>()
  readonly #versions = new Map<string, Promise<string | undefined>>()

  snapshot(folder: string, exclude: string[], context: Context): Promise<Snapshot> {
    return once(this.#snapshots, JSON.stringify([folder, exclude]), () => takeSnapshot(folder, exclude, context))
  }

  /**
   * `file` null: none, which is an environment without packages. `version`: of Python, where the manifest names one.
   */
  requirements(folder: string, file: string | null, version?: string): Promise<Requirements> {
    return once(this.#requirements, JSON.stringify([folder, file, version]), () =>
      readRequirements(folder, file ?? undefined, version),
    )
  }

  /** The image of a project: what was read of it, and its blobs. */
  image(text: string, folder: string, context: Context): ImageFiles {
    const key = JSON.stringify([text, folder])
    const found = this.#images.get(key) ?? new ImageFiles(text, folder, context)
    this.#images.set(key, found)
    return found
  }

  /** Whatever several steps of one command do together once. */
  once(key: string, act: () => Promise<void>): Promise<void> {
    return once(this.#acts, key, act)
  }

  /** What one node has chosen for all, of these requirements. */
  versions(node: string, digest: string, choose: () => Promise<string | undefined>): Promise<string | undefined> {
    return once(this.#versions, JSON.stringify([node, digest]), choose)
  }
}

/** The project is not any more what the plan was made for. */
export function changedSince(folder: string, what: string): CliError {
  return new CliError('CONFLICT', `${what} in ${folder} changed after this was planned`, {
    hint: 'run the command again',
    details: {folder},
  })
}

/** The same for two sets of requirements that mean the same. */
export function digestOf({requirements, constraints}: Requirements): string {
  return createHash('sha256')
    .update(JSON.stringify([requirements, constraints]))
    .digest('hex')
}

function once<T>(known: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? read()
  known.set(key, found)
  return found
}
