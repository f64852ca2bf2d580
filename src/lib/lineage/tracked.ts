import {isCliError} from '../base/index.ts'
import {findRun, resolveVersion, type ModelReference} from '../model/index.ts'
import type {Mlflow, ModelVersion, TrackedRun} from '../tracking/index.ts'

/**
 * Runs and model versions, wherever they are kept: in the workspace of the project that is asked from first, then in the
 * others that are open to who asks. What was made before `project add` is in the default one.
 */
export class Tracked {
  readonly #own: Mlflow
  readonly #elsewhere: () => Promise<Mlflow[]>
  /** Where what was found is. */
  readonly #homes = new Map<string, Mlflow>()

  /** `elsewhere`: is called only where the own one has not got something. */
  constructor(own: Mlflow, elsewhere: () => Promise<Mlflow[]> = () => Promise.resolve([])) {
    this.#own = own
    this.#elsewhere = elsewhere
  }

  /** The first that the reference means and that fits; where none fits, the first. Undefined where there is none. */
  async version(
    reference: ModelReference,
    fits: (found: ModelVersion) => boolean = () => true,
  ): Promise<ModelVersion | undefined> {
    let first: {found: ModelVersion; mlflow: Mlflow} | undefined
    for await (const mlflow of this.#all()) {
      const found = await ifOpen(() => resolveVersion(mlflow, reference))
      if (!found) continue
      first ??= {found, mlflow}
      if (!fits(found)) continue
      first = {found, mlflow}
      break
    }
    if (first) this.#homes.set(keyOf(first.found), first.mlflow)
    return first?.found
  }

  async run(name: string): Promise<TrackedRun | undefined> {
    for await (const mlflow of this.#all()) {
      const found = await ifOpen(() => findRun(mlflow, name))
      if (!found) continue
      this.#homes.set(found.id, mlflow)
      return found
    }
    return undefined
  }

  /** The server and workspace of what was found, by its id or as a version. */
  homeOf(found: string | ModelVersion): Mlflow {
    return this.#homes.get(typeof found === 'string' ? found : keyOf(found)) ?? this.#own
  }

  async *#all(): AsyncGenerator<Mlflow> {
    yield this.#own
    yield* await this.#elsewhere()
  }
}

const keyOf = ({name, version}: ModelVersion): string => `${name}/${version}`

/** What somebody may not see is not there for them. */
async function ifOpen<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look()
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND', 'REFUSED')) return undefined
    throw error
  }
}
