import {createHash} from 'node:crypto'
import {rm} from 'node:fs/promises'
import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {CliError, isCliError, ownVersion, randomId, userPaths, type Context} from '../base/index.ts'
import {DataStore} from '../data/index.ts'
import {loadManifest, type Manifest} from '../manifest/index.ts'
import {probeNodes} from '../nodes/index.ts'
import type {RecordedCode, RunRecord} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Mlflow, TrackedRun} from '../tracking/index.ts'
import {planTrain, type TrainPlan} from '../train/index.ts'
import {checkOut} from './checkout.ts'
import {compare, type ComparedAgain, type Point} from './compare.ts'
import {checkCode, MOST_PACK} from './content-checks.ts'
import {differencesOf, type Difference, type Now} from './differ.ts'
import type {EvidencePlace} from './evidence.ts'
import {evidenceOf} from './evidence.ts'
import {findRecord, MOST_RECORD} from './find-record.ts'
import {readPack} from './pack.ts'
import type {Evidence} from './types.ts'

/** A run that can be made again: what it would take, and what is not as it was. */
export interface Reproduction {
  was: {run: TrackedRun; record: RunRecord}
  /** Where its code is now. */
  folder: string
  /** Of the project as it was; its name, and so its workspace on nodes, is a new one. */
  place: {manifest: Manifest; rack: Rack; fleet: Fleet}
  train: TrainPlan
  differences: Difference[]
  evidence: Evidence
}

/**
 * Checks a run's code out into a folder of its own, and plans the same training there. Nothing is changed on nodes.
 * Errors: NOT_FOUND (no such run, no record, its code or data are gone), CHECK_FAILED, those of planTrain.
 */
export async function planReproduction(
  name: string,
  place: EvidencePlace,
  {on}: {on: string | undefined},
  context: Context,
): Promise<Reproduction> {
  const evidence = evidenceOf(place, context)
  const run = await evidence.run(name)
  const found = run && (await findRecord(run, evidence))
  if (!run || !found)
    throw new CliError('NOT_FOUND', run ? `run ${name} has no record` : `there is no tracked run ${name}`, {
      hint: 'flexrack runs list',
    })
  const {record} = found
  const folder = join(userPaths(context.env).cache, 'reproduce', `${record.run}-${randomId()}`)
  try {
    const left = await checkOutCode(run, record, folder, evidence)
    if (!existsSync(join(folder, 'flexrack.yaml')))
      throw new CliError(
        'NOT_FOUND',
        `the code of ${record.run} has no flexrack.yaml: nothing says how it was started`,
        {
          hint: 'a project that excludes its manifest from sync cannot be reproduced',
        },
      )
    const manifest = sameTraining(await loadManifest(folder), record)
    const missing = await missingData(record, context)
    if (missing.length > 0)
      throw new CliError('NOT_FOUND', `this machine does not have ${missing.join(', ')} any more`, {
        hint: 'run this on the machine that added it, or add the same files again: flexrack data add FOLDER NAME',
        details: {missing},
      })
    const own = {manifest, rack: place.rack, fleet: place.fleet}
    const train = await planTrain(own, choiceOf(record, place.rack, on), context)
    const now: Now = {
      version: await ownVersion(),
      nodes: await factsOf(train, place, context),
      environment:
        train.workspaces.workspaces.get(train.spec.placements[0]?.node.name ?? '')?.environment?.hash ?? null,
      missing,
      manifest,
      left,
    }
    return {was: {run, record}, folder, place: own, train, differences: differencesOf(record, now), evidence}
  } catch (error) {
    await rm(folder, {recursive: true, force: true})
    throw error
  }
}

/** What another run of the same came to. Errors: NOT_FOUND where that one has no record. */
export async function compareWith(
  {was, evidence}: Pick<Reproduction, 'was' | 'evidence'>,
  trackedId: string,
  {tolerance, metrics: named}: {tolerance: number; metrics: string[] | undefined},
  mlflow: Mlflow,
): Promise<ComparedAgain> {
  const again = await evidence.run(trackedId)
  const found = again && (await findRecord(again, evidence))
  if (!again || !found) throw new CliError('NOT_FOUND', `the new run ${trackedId} has no record`)
  const side = async (run: TrackedRun, record: RunRecord): Promise<Parameters<typeof compare>[0]> => ({
    metrics: await historiesOf(run, named, mlflow),
    outputs: record.outputs,
    packages: String((await evidence.artifact(run, 'lineage/environment.txt', MOST_RECORD)) ?? ''),
  })
  return compare(await side(was.run, was.record), await side(again, found.record), tolerance)
}

async function checkOutCode(
  run: TrackedRun,
  {run: name, code}: RunRecord,
  folder: string,
  evidence: Evidence,
): Promise<[path: string, why: string][]> {
  if (!code?.pack) throw new CliError('NOT_FOUND', `the code of ${name} was not kept: ${whyNot(code)}`)
  const check = await checkCode(run, code, evidence)
  if (!check.holds) throw new CliError('CHECK_FAILED', `the code of ${name} is not what it was: ${check.why}`)
  const bytes = await evidence.artifact(run, 'lineage/code.tar.gz', MOST_PACK)
  if (!bytes || createHash('sha256').update(bytes).digest('hex') !== code.pack.sha256)
    throw new CliError('CHECK_FAILED', `the code of ${name} was changed while it was read`)
  const links = await checkOut(await readPack(bytes), folder)
  return [...code.left_out, ...links.map((path): [string, string] => [path, 'a link that leads out of the project'])]
}

function whyNot(code: RecordedCode | null): string {
  return code?.left_out[0]?.[1] ?? 'it had none'
}

/** The command as it was, the data as exact versions, and a workspace of its own. Pure. */
export function sameTraining(manifest: Manifest, record: RunRecord): Manifest {
  if (!manifest.train) throw new CliError('NOT_FOUND', `${manifest.path} has no \`train:\` part`)
  return {
    ...manifest,
    name: `${manifest.name.slice(0, 25).replace(/[^a-z0-9]+$/, '')}-again-${randomId()}`,
    train: {...manifest.train, command: record.command, launcher: record.launcher},
    ...(record.data.length > 0 && {data: record.data.map(({name, digest}) => `${name}@${digest}`)}),
  }
}

/** On the same nodes, where the rack has all of them; else on as many. Pure. */
export function choiceOf(record: RunRecord, rack: Rack, on: string | undefined): Parameters<typeof planTrain>[1] {
  const nodes = record.attempts.at(-1)?.nodes ?? record.nodes.map((one) => one.node)
  const hasAll = nodes.every((name) => rack.nodes.some((one) => one.name === name))
  return {
    args: [],
    tracking: true,
    processesPerNode: record.processes,
    spares: 0,
    nodes: nodes.length,
    ...(on !== undefined ? {on} : hasAll && nodes.length > 0 && !rack.slurm && {on: nodes.join(',')}),
  }
}

async function missingData({data}: RunRecord, context: Context): Promise<string[]> {
  const store = new DataStore(context)
  const missing: string[] = []
  for (const {name, digest} of data) {
    try {
      await store.find(`${name}@${digest}`)
    } catch (error) {
      if (!isCliError(error, 'NOT_FOUND')) throw error
      missing.push(`${name}@${digest.slice(0, 12)}`)
    }
  }
  return missing
}

async function factsOf({spec}: TrainPlan, {fleet}: EvidencePlace, context: Context): Promise<Now['nodes']> {
  const nodes = spec.placements.map((one) => one.node)
  const reports = await probeNodes(nodes, fleet, context)
  return reports.map(({node, value}) => ({
    node,
    facts: value
      ? {
          kernel: value.facts.kernel ?? '',
          machine: value.facts.architecture ?? '',
          cpu: value.facts.cpu?.model ?? null,
          driver: value.facts.gpus?.[0]?.driver ?? null,
        }
      : null,
  }))
}

/** What the run logged itself: what nodes measure of it is never the same. */
async function historiesOf(
  run: TrackedRun,
  named: string[] | undefined,
  mlflow: Mlflow,
): Promise<Map<string, Point[]>> {
  const found = new Map<string, Point[]>()
  for (const name of Object.keys(run.metrics)) {
    if (named ? !named.includes(name) : name.startsWith('system/')) continue
    found.set(name, await mlflow.metricHistory(run.id, name))
  }
  return found
}
