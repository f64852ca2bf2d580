import {lstat, readdir} from 'node:fs/promises'
import {isAbsolute, join} from 'node:path'
import type {HeadHolding} from '../../../protocol/index.ts'
import {logLine} from '../log.ts'
import {readModel, readRun, tagOf, type MlflowPlace} from '../tracking/mlflow-reader.ts'
import {USER_TAG} from '../tracking/scope-tags.ts'
import type {Parts} from '../parts.ts'
import {artifactsOf} from '../tracking/mlflow-command.ts'

/** Below the folder of artifacts, as MLflow lays them out: of a workspace, of an experiment, of a run or a model. */
const WORKSPACES = 'workspaces'
const MODELS = 'models'
const RUN = /^[0-9a-f]{32}$/
/** Files of one look: what is above that is not counted, rather than that the head is busy with it. */
const MOST_FILES = 1_000_000
const EVERY_MS = 300_000
/** So many times as long as a look took nothing is looked at: 2 % of a core at most. */
const REST = 50
/** So soon after a quota was set, or the tracking server is there. */
const ASK_MS = 10_000

interface Owner {
  user: string
  project: string
}

/** A folder that a run or a model has, and who asks whose it is. */
interface Kept {
  id: string
  kind: 'run' | 'model'
  workspace: string | undefined
  folder: string
}

/**
 * What runs and models keep in the head's own folder of artifacts, by whose they are: measured by the head itself, so that
 * nobody has to tell it. A store elsewhere (artifacts of the rack file) is not measured.
 */
export class Artifacts {
  readonly #folder: string
  readonly #socket: () => string
  readonly #teamsOf: (user: string) => string[]
  /** Whose something is stays: asked once. */
  readonly #owners = new Map<string, Owner>()

  constructor(folder: string, socket: () => string, teamsOf: (user: string) => string[]) {
    this.#folder = folder
    this.#socket = socket
    this.#teamsOf = teamsOf
  }

  /** One entry an owner. Errors: those of the folder, and of a tracking server that does not answer. */
  async look(): Promise<Record<string, HeadHolding>> {
    const sums = new Map<string, Owner & {bytes: number}>()
    const budget = {files: MOST_FILES}
    const seen = new Set<string>()
    for await (const kept of foldersOf(this.#folder)) {
      seen.add(kept.id)
      const owner = await this.#ownerOf(kept)
      if (!owner) continue
      const key = `artifacts ${owner.user} ${owner.project}`
      const before = sums.get(key)?.bytes ?? 0
      sums.set(key, {...owner, bytes: before + (await bytesBelow(kept.folder, budget))})
    }
    for (const id of this.#owners.keys()) if (!seen.has(id)) this.#owners.delete(id)
    const since = Date.now()
    return Object.fromEntries(
      [...sums].map(([key, {user, project, bytes}]) => [
        key,
        {user, project, teams: this.#teamsOf(user), amounts: {disk: bytes}, since},
      ]),
    )
  }

  async #ownerOf(kept: Kept): Promise<Owner | undefined> {
    const known = this.#owners.get(kept.id)
    if (known) return known
    const owner = await askOwner(kept, placeOf(this.#socket(), kept.workspace))
    if (owner) this.#owners.set(kept.id, owner)
    return owner
  }
}

/**
 * Measures now and then, as long as a quota of disk makes it matter; ends with what is given back. Nothing where artifacts
 * are in a store elsewhere.
 */
export function watchArtifacts({
  config,
  mlflow,
  people,
  quotas,
  holdings,
}: Pick<Parts, 'config' | 'mlflow' | 'people' | 'quotas' | 'holdings'>): () => void {
  const folder = artifactsOf(config)
  if (!isAbsolute(folder)) return () => {}
  const artifacts = new Artifacts(
    folder,
    () => mlflow.socket,
    (user) => people.teamsOf(user),
  )
  let isLooking = false
  let said = ''
  let next = -Infinity
  const look = async (): Promise<void> => {
    if (!quotas.limitsDisk) {
      next = -Infinity
      return holdings.measured({})
    }
    if (isLooking || !mlflow.isReady || performance.now() < next) return
    isLooking = true
    const began = performance.now()
    try {
      holdings.measured(await artifacts.look())
      said = ''
      const now = performance.now()
      next = now + Math.max(EVERY_MS, (now - began) * REST)
    } catch (error) {
      // A server that is just starting, a folder that changes: what was measured before counts until the next look.
      const {message} = error as Error
      if (message !== said) logLine(`artifacts were not measured: ${message}`)
      said = message
    } finally {
      isLooking = false
    }
  }
  const timer = setInterval(() => void look(), ASK_MS).unref()
  return () => clearInterval(timer)
}

function placeOf(socket: string, workspace: string | undefined): MlflowPlace {
  return workspace === undefined ? socket : {socket, workspace}
}

/** A model is its run's. Undefined where MLflow does not know it: what was deleted there for good, or is being written. */
async function askOwner({id, kind, workspace}: Kept, place: MlflowPlace): Promise<Owner | undefined> {
  const source = kind === 'run' ? id : (await readModel(place, id))?.info.source_run_id
  const run = source ? await readRun(place, source) : undefined
  const user = run && (tagOf(run, USER_TAG) ?? tagOf(run, 'mlflow.user'))
  return user ? {user, project: workspace ?? tagOf(run, 'flexrack.project') ?? 'default'} : undefined
}

async function* foldersOf(root: string): AsyncGenerator<Kept> {
  for (const name of await foldersIn(root))
    if (name === WORKSPACES)
      for (const workspace of await foldersIn(join(root, name)))
        for (const experiment of await foldersIn(join(root, name, workspace)))
          yield* keptIn(join(root, name, workspace, experiment), workspace)
    else yield* keptIn(join(root, name), undefined)
}

async function* keptIn(experiment: string, workspace: string | undefined): AsyncGenerator<Kept> {
  for (const id of await foldersIn(experiment))
    if (RUN.test(id)) yield {id, kind: 'run', workspace, folder: join(experiment, id)}
    else if (id === MODELS)
      for (const model of await foldersIn(join(experiment, id)))
        yield {id: model, kind: 'model', workspace, folder: join(experiment, id, model)}
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const found = await readdir(folder, {withFileTypes: true})
    return found.filter((one) => one.isDirectory()).map((one) => one.name)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

/** Sizes of files; links are not followed. */
async function bytesBelow(folder: string, budget: {files: number}): Promise<number> {
  let sum = 0
  const left = [folder]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const entries = await readdir(at, {withFileTypes: true}).catch(() => [])
    for (const one of entries) {
      if (budget.files-- <= 0) return sum
      const path = join(at, one.name)
      if (one.isDirectory()) left.push(path)
      else if (one.isFile())
        sum += await lstat(path).then(
          ({size}) => size,
          () => 0,
        )
    }
  }
  return sum
}
