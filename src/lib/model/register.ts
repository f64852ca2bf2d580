import {CliError, isCliError, nearestName} from '../base/index.ts'
import {fromStep, valuesOf, type PlanOf, type StepOf} from '../plan/index.ts'
import type {Mlflow, ModelVersion, TrackedRun} from '../tracking/index.ts'
import {checkAlias, checkModelName} from './reference.ts'
import {carryOut, type ModelEnv, type ModelKinds} from './steps.ts'

export interface RegisterInput {
  name: string
  /** Run id of flexrack or of the tracking server; default: the newest finished run of the experiment. */
  run?: string
  experiment?: string
  /** Artifact of the run, a file or a folder; default: its only *.onnx or *.gguf file. */
  path?: string
  alias?: string
}

/** What will be registered: everything is looked up, nothing changed. */
export interface Registration {
  name: string
  run: {id: string; name: string}
  path: string
  source: string
  bytes: number | undefined
  alias: string | undefined
  /** It is a folder: all files in it are the version. */
  folder?: true
}

/**
 * Finds the run and the file. Errors: NOT_FOUND (with what there is), USAGE where it is not clear which file is meant.
 */
export async function findRegistration(mlflow: Mlflow, input: RegisterInput): Promise<Registration> {
  checkModelName(input.name)
  if (input.alias !== undefined) checkAlias(input.alias)
  const run = input.run === undefined ? await newestRun(mlflow, input.experiment) : await findRun(mlflow, input.run)
  const files = await mlflow.walkArtifacts(run.id)
  const file = chooseFile(
    run,
    files.map((entry) => entry.path),
    input.path,
  )
  const entry = files.find((one) => one.path === file)
  const inside = files.filter((one) => one.path.startsWith(`${file}/`))
  const bytes = entry ? entry.size : inside.reduce((sum, one) => sum + (one.size ?? 0), 0)
  const source = `${run.artifactUri.replace(/\/+$/, '')}/${file}`
  const found = {name: input.name, run: {id: run.id, name: run.name}, path: file, source, bytes, alias: input.alias}
  return entry ? found : {...found, folder: true}
}

/** What registering does. Pure. */
export function registrationPlan({name, run, path, source, bytes, alias, folder}: Registration): PlanOf<ModelKinds> {
  const version: StepOf<ModelKinds> = {
    id: 'version',
    node: null,
    kind: 'model.version',
    needs: [],
    input: {name, run, path, source, bytes: bytes ?? null, ...(folder && {folder})},
    title: `Register ${path}${folder ? '/' : ''} of run ${run.name} as a new version of model ${name}`,
  }
  if (alias === undefined) return {command: 'model register', steps: [version]}
  const point: StepOf<ModelKinds> = {
    id: 'alias',
    node: null,
    kind: 'model.alias',
    needs: ['version'],
    input: {name, alias, version: fromStep('version', 'version')},
    title: `Point ${name}@${alias} to it`,
  }
  return {command: 'model register', steps: [version, point]}
}

/** Makes the version, with the checksum of its file as a tag, and sets the alias. */
export async function register(
  found: Registration,
  env: ModelEnv,
): Promise<{version: ModelVersion; previous: string | undefined}> {
  const outcomes = await carryOut(registrationPlan(found), env)
  const version = valuesOf<ModelKinds, 'model.version'>(outcomes, 'model.version')[0] as ModelVersion
  if (found.alias === undefined) return {version, previous: undefined}
  return {
    version: {...version, aliases: [found.alias]},
    previous: valuesOf<ModelKinds, 'model.alias'>(outcomes, 'model.alias')[0] ?? undefined,
  }
}

/** The user of the head who started a run; the head alone writes it. */
const USER_TAG = 'flexrack.user'

/**
 * A run by the server's id, by flexrack's run id, or by its name. A name is what any program calls its run, so one that
 * several have is not taken for either; nor is an id of flexrack's that runs of two users have, as a member of a project may
 * give any id with MLflow's own client.
 */
export async function findRun(mlflow: Mlflow, name: string): Promise<TrackedRun> {
  if (/^[0-9a-f]{32}$/.test(name)) return mlflow.getRun(name)
  const experiments = (await mlflow.searchExperiments()).map((one) => one.id)
  const quoted = `'${name.replaceAll("'", '')}'`
  const search = async (tag: string): Promise<TrackedRun[]> =>
    experiments.length > 0
      ? mlflow.searchRuns({experimentIds: experiments, filter: `tags.\`${tag}\` = ${quoted}`, limit: 2})
      : []
  const [own, second] = await search('flexrack.run')
  if (own && (!second || own.tags[USER_TAG] === second.tags[USER_TAG])) return own
  const [found, other] = own ? [own, second] : await search('mlflow.runName')
  if (found && other) {
    throw new CliError('USAGE', `several runs are named ${name}`, {
      hint: `flexrack model register MODEL --run ${found.id}, or the other one`,
      details: {runs: [found.id, other.id]},
    })
  }
  if (found) return found
  const recent = experiments.length > 0 ? await mlflow.searchRuns({experimentIds: experiments, limit: 50}) : []
  const nearest = nearestName(
    name,
    recent.map((run) => run.name),
  )
  throw new CliError('NOT_FOUND', `there is no run ${name}${nearest ? `; did you mean ${nearest}?` : ''}`, {
    hint: 'flexrack runs list',
    details: {runs: recent.slice(0, 10).map((run) => run.name)},
  })
}

async function newestRun(mlflow: Mlflow, experiment: string | undefined): Promise<TrackedRun> {
  if (experiment === undefined)
    throw new CliError('USAGE', 'which run is meant? There is no project here to take the newest of; pass --run RUN', {
      hint: 'flexrack runs list',
    })
  const known = await mlflow.findExperiment(experiment).catch((error: unknown) => {
    if (isCliError(error, 'NOT_FOUND')) return undefined
    throw error
  })
  const [run] = known
    ? await mlflow.searchRuns({experimentIds: [known.id], filter: "attributes.status = 'FINISHED'", limit: 1})
    : []
  if (run) return run
  throw new CliError('NOT_FOUND', `experiment ${experiment} has no finished run`, {hint: 'flexrack train'})
}

function chooseFile(run: TrackedRun, files: string[], path: string | undefined): string {
  if (path !== undefined) {
    const plain = path.replace(/\/+$/, '')
    if (files.includes(plain) || files.some((file) => file.startsWith(`${plain}/`))) return plain
    const nearest = nearestName(path, files)
    throw new CliError(
      'NOT_FOUND',
      `run ${run.name} has no artifact ${path}${nearest ? `; did you mean ${nearest}?` : ''}`,
      {hint: `flexrack runs show ${run.name}`, details: {artifacts: files.slice(0, 50)}},
    )
  }
  const models = files.filter((file) => file.endsWith('.onnx') || file.endsWith('.gguf'))
  const only = models[0]
  if (models.length === 1 && only !== undefined) return only
  if (models.length === 0)
    throw new CliError('NOT_FOUND', `run ${run.name} has no *.onnx or *.gguf artifact`, {
      hint: 'list the model in train.outputs of flexrack.yaml, or pass --path',
      details: {artifacts: files.slice(0, 50)},
    })
  throw new CliError('USAGE', `run ${run.name} has ${models.length} models: ${models.slice(0, 5).join(', ')}`, {
    hint: `--path ${only}`,
    details: {artifacts: models},
  })
}
