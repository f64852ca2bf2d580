import {needRclone, remoteOf, remotesOf} from '../bucket/index.ts'
import {CliError, isCliError, withProgress, type Context} from '../base/index.ts'
import {executePlan, throwIfFailed, valuesOf, type Handlers, type PlanOf, type StepOf} from '../plan/index.ts'
import type {NodeRunDetail, UploadDone} from '../protocol/index.ts'
import {hostOf, type Place} from './find.ts'
import {stateOf} from './leading.ts'
import type {Records} from './records.ts'
import type {FoundRun} from './types.ts'

type UploadInput = {node: string; run: string; remotes: string[]}

export type UploadKinds = {'runs.upload': {input: UploadInput; output: {node: string; uploads: UploadDone[]}}}

/** What went to buckets, once more. */
export interface Uploaded {
  run: string
  nodes: {node: string; uploads: UploadDone[]}[]
  /** It had failed for that alone, and has finished now. */
  finished: boolean
}

interface UploadEnv {
  place: Place
  context: Context
}

const HANDLERS: Handlers<UploadKinds, UploadEnv> = {'runs.upload': upload}

/**
 * Copies what a run's uploads name from each of its nodes, and compares it. Errors: NOT_FOUND where
 * it has none, or a remote is not set up here; CONFLICT while it runs; those of the nodes.
 */
export async function uploadRun(
  {
    place,
    run,
    details,
    records,
  }: {
    place: Place
    run: FoundRun
    details: NodeRunDetail[]
    records: () => Promise<Records>
  },
  dryRun: boolean,
  context: Context,
): Promise<Uploaded | PlanOf<UploadKinds>> {
  const wanted = details.find(({uploads}) => (uploads ?? []).length > 0)?.uploads
  if (!wanted) {
    throw new CliError('NOT_FOUND', `${run.run} has nothing that goes to buckets`, {
      hint: 'train: {uploads: [{to: REMOTE:PATH}]} in flexrack.yaml',
    })
  }
  if (stateOf(run).live)
    throw new CliError('CONFLICT', `${run.run} is still running`, {hint: `flexrack runs stop ${run.run}`})
  const remotes = [...new Set(wanted.map(({to}) => remoteOf(to)))]
  const steps = run.nodes.map(({node}): StepOf<UploadKinds> => ({
    id: `upload:${node}`,
    node,
    kind: 'runs.upload',
    title: `Copy what ${run.run} has left to ${wanted.map(({to}) => to).join(', ')}, and compare it`,
    input: {node, run: run.run, remotes},
    needs: [],
  }))
  const plan: PlanOf<UploadKinds> = {command: 'runs upload', steps}
  await remotesOf(remotes, context.env) // what is missing is told before anything is done
  if (dryRun) return plan
  const outcomes = await executePlan(plan, HANDLERS, {place, context}, context)
  throwIfFailed(outcomes)
  const settled = await Promise.all(
    run.nodes.map(async ({node}) => {
      const host = await hostOf(place, node, context)
      return host.call('bucket.settle', {run: run.run}, {signal: context.signal})
    }),
  )
  const finished = settled.some(({changed}) => changed)
  const {tracked} = stateOf(run)
  if (finished && tracked !== null) {
    const {tracking, away} = await records()
    if (tracking) {
      await tracking.mlflow
        .updateRun(tracked, {status: 'FINISHED', endTime: Date.now()})
        .catch((error: unknown) =>
          isCliError(error)
            ? context.reporter.warn(`its record was not changed: ${error.message}`)
            : Promise.reject(error as Error),
        )
    } else {
      context.reporter.warn(`its record still says that it failed: ${away}`)
    }
  }
  return {run: run.run, nodes: valuesOf<UploadKinds, 'runs.upload'>(outcomes, 'runs.upload'), finished}
}

async function upload(
  {node, run, remotes}: UploadInput,
  _done: unknown,
  {place, context}: UploadEnv,
): Promise<{node: string; uploads: UploadDone[]}> {
  const host = await hostOf(place, node, context)
  await needRclone(host, context)
  const uploads = await withProgress(context.reporter, [`Copy what ${run} has left`, node], async (progress) =>
    host.call(
      'bucket.upload',
      {run, remotes: await remotesOf(remotes, context.env)},
      {
        signal: context.signal,
        onEvent: (event) =>
          void (event.event === 'progress' && progress.amount(event.done ?? 0, event.total ?? 0, 'bytes')),
      },
    ),
  )
  return {node, uploads}
}
