import {Turns} from '../files/durable.ts'
import {Failure} from '../failure.ts'
import {askMlflow, type MlflowPlace} from './mlflow-reader.ts'
import {isIdentity} from './scope-tags.ts'
import type {Caller} from '../tokens/token-kinds.ts'

type RunCaller = Extract<Caller, {kind: 'run'}>

/** Set by a run's relay (node/flexrack_node/relay/claims.py): the rank that asks for a run has none yet. */
export const OWN_RUN_HEADER = 'flexrack-own-run'
/** Tag of a run: names of experiments that its program has asked for, separated by commas. */
export const ASKED_TAG = 'flexrack.asked_experiments'

const API = '/api/2.0/mlflow'
/** Who started the run, and from which code, is known better than a library inside it does. */
const KNOWN_BETTER = /^mlflow\.(user|source\..*|parentRunId|runName)$/

interface Tag {
  key: string
  value: string
}

/**
 * Carries out, for a run, what programs ask of a server that is theirs alone. Errors: those of MLflow, as it told them;
 * 502 where it does not answer as it should.
 */
export interface OwnRun {
  /** The run's own experiment, whatever the name; the name is kept as a tag. Answers as experiments/get does. */
  experiment(caller: RunCaller, name: string): Promise<object>
  /** The run itself, once it has the name and the tags of the run that was asked for. Answers as runs/create does. */
  adopt(caller: RunCaller, asked: Record<string, unknown>): Promise<object>
}

export function openOwnRun(place: MlflowPlace): OwnRun {
  const turns = new Turns()
  const ask = async <T>(path: string, body?: Record<string, unknown>): Promise<T> => {
    const {status, text} = await askMlflow(place, `${API}/${path}`, body)
    if (status !== 200)
      throw new Failure(
        502,
        'HEAD_FAILED',
        `the tracking server answers ${path.split('?', 1)[0]} with status ${status}`,
      )
    return JSON.parse(text) as T
  }
  const run = (id: string): Promise<{run: {data?: {tags?: Tag[]}}}> =>
    ask(`runs/get?${new URLSearchParams({run_id: id})}`)
  const note = async (id: string, name: string): Promise<void> => {
    const known = (await run(id)).run.data?.tags?.find((tag) => tag.key === ASKED_TAG)?.value.split(',') ?? []
    const word = encodeURIComponent(name.toWellFormed())
    if (!known.includes(word))
      await ask('runs/set-tag', {run_id: id, key: ASKED_TAG, value: [...known, word].join(',').slice(0, 5000)})
  }
  return {
    experiment: async ({runId, experimentId}, name) => {
      const found = await ask<{experiment: {name?: string}}>(
        `experiments/get?${new URLSearchParams({experiment_id: experimentId})}`,
      )
      if (found.experiment.name !== name) await turns.take(() => note(runId, name))
      return found
    },
    adopt: async ({runId}, {tags, run_name: name}) => {
      const given = (Array.isArray(tags) ? (tags as unknown[]) : []).filter(isTag)
      const own = given.filter(({key}) => !KNOWN_BETTER.test(key) && !isIdentity(key))
      const called =
        typeof name === 'string' && name !== '' ? name : given.find(({key}) => key === 'mlflow.runName')?.value
      if (own.length > 0) await ask('runs/log-batch', {run_id: runId, tags: own})
      if (called) await ask('runs/update', {run_id: runId, run_name: called})
      return run(runId)
    },
  }
}

function isTag(value: unknown): value is Tag {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Tag).key === 'string' &&
    typeof (value as Tag).value === 'string'
  )
}
