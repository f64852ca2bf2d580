import {createHash} from 'node:crypto'
import {CliError, type Context, isCliError, nearestName} from '../base/index.ts'
import type {Plan, Step} from '../plan/index.ts'
import type {Mlflow, ModelVersion, TrackedRun} from '../tracking/index.ts'
import {checkAlias, checkModelName} from './reference.ts'

export interface RegisterInput {
  name: string
  /** Run id of flexrack or of the tracking server; default: the newest finished run of the experiment. */
  run?: string
  experiment?: string
  /** Artifact of the run; default: its only *.onnx file. */
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
}

/** Finds the run and the file. Errors: NOT_FOUND (with what there is), USAGE where it is not clear which file is meant. */
export async function findRegistration(mlflow: Mlflow, input: RegisterInput): Promise<Registration> {
  checkModelName(input.name)
  if (input.alias !== undefined) checkAlias(input.alias)
  const run = input.run === undefined ? await newestRun(mlflow, input.experiment) : await findRun(mlflow, input.run)
  const files = await mlflow.walkArtifacts(run.id)
  const file = chooseFile(run, files.map((entry) => entry.path), input.path)
  const bytes = files.find((entry) => entry.path === file)?.size
  const source = `${run.artifactUri.replace(/\/+$/, '')}/${file}`
  return {name: input.name, run: {id: run.id, name: run.name}, path: file, source, bytes, alias: input.alias}
}

/** The plan of a registration, for --dry-run. */
export function registrationPlan(found: Registration): Plan {
  const version: Step = {
    id: 'version', node: null, kind: 'model.version', needs: [], input: {...found},
    title: `Register ${found.path} of run ${found.run.name} as a new version of model ${found.name}`,
  }
  if (found.alias === undefined) return {command: 'model register', steps: [version]}
  const alias: Step = {
    id: 'alias', node: null, kind: 'model.alias', needs: ['version'], input: {name: found.name, alias: found.alias},
    title: `Point ${found.name}@${found.alias} to it`,
  }
  return {command: 'model register', steps: [version, alias]}
}

/** Makes the version, with the checksum of its file as a tag, and sets the alias. */
export async function register(mlflow: Mlflow, found: Registration, context: Context): Promise<{version: ModelVersion; previous: string | undefined}> {
  const progress = context.reporter.begin(`Check ${found.path}`)
  let sha256: string
  try {
    const hash = createHash('sha256')
    let bytes = 0
    for await (const chunk of await mlflow.openArtifact(found.run.id, found.path)) {
      hash.update(chunk as Buffer)
      bytes += (chunk as Buffer).length
      progress.amount(bytes, found.bytes, 'bytes')
    }
    sha256 = hash.digest('hex')
    progress.done(`${found.path} is there`)
  } catch (error) {
    progress.fail()
    throw error
  }
  await mlflow.ensureModel(found.name)
  const tags = {'flexrack.run': found.run.name, 'flexrack.path': found.path, 'flexrack.sha256': sha256}
  const version = await mlflow.createVersion({name: found.name, source: found.source, runId: found.run.id, tags})
  if (found.alias === undefined) return {version, previous: undefined}
  const previous = (await mlflow.getModel(found.name)).aliases[found.alias]
  await mlflow.setAlias(found.name, found.alias, version.version)
  return {version: {...version, aliases: [found.alias]}, previous}
}

/** A run by the server's id, by flexrack's run id, or by its name. */
export async function findRun(mlflow: Mlflow, name: string): Promise<TrackedRun> {
  if (/^[0-9a-f]{32}$/.test(name)) return mlflow.getRun(name)
  const experiments = (await mlflow.searchExperiments()).map((one) => one.id)
  const quoted = `'${name.replaceAll("'", '')}'`
  const [found] = experiments.length > 0 ? await mlflow.searchRuns({experimentIds: experiments, filter: `tags.\`mlflow.runName\` = ${quoted}`, limit: 1}) : []
  if (found) return found
  const recent = experiments.length > 0 ? await mlflow.searchRuns({experimentIds: experiments, limit: 50}) : []
  const nearest = nearestName(name, recent.map((run) => run.name))
  throw new CliError('NOT_FOUND', `there is no run ${name}${nearest ? `; did you mean ${nearest}?` : ''}`, {hint: 'flexrack runs list', details: {runs: recent.slice(0, 10).map((run) => run.name)}})
}

async function newestRun(mlflow: Mlflow, experiment: string | undefined): Promise<TrackedRun> {
  if (experiment === undefined) throw new CliError('USAGE', 'which run is meant? There is no project here to take the newest of; pass --run RUN', {hint: 'flexrack runs list'})
  const known = await mlflow.findExperiment(experiment).catch((error: unknown) => {
    if (isCliError(error, 'NOT_FOUND')) return undefined
    throw error
  })
  const [run] = known ? await mlflow.searchRuns({experimentIds: [known.id], filter: "attributes.status = 'FINISHED'", limit: 1}) : []
  if (run) return run
  throw new CliError('NOT_FOUND', `experiment ${experiment} has no finished run`, {hint: 'flexrack train'})
}

function chooseFile(run: TrackedRun, files: string[], path: string | undefined): string {
  if (path !== undefined) {
    if (files.includes(path)) return path
    const nearest = nearestName(path, files)
    throw new CliError('NOT_FOUND', `run ${run.name} has no artifact ${path}${nearest ? `; did you mean ${nearest}?` : ''}`, {hint: `flexrack runs show ${run.name}`, details: {artifacts: files.slice(0, 50)}})
  }
  const models = files.filter((file) => file.endsWith('.onnx'))
  const only = models[0]
  if (models.length === 1 && only !== undefined) return only
  if (models.length === 0) throw new CliError('NOT_FOUND', `run ${run.name} has no *.onnx artifact`, {hint: 'list the model in train.outputs of flexrack.yaml, or pass --path', details: {artifacts: files.slice(0, 50)}})
  throw new CliError('USAGE', `run ${run.name} has ${models.length} *.onnx artifacts: ${models.slice(0, 5).join(', ')}`, {hint: `--path ${only}`, details: {artifacts: models}})
}
