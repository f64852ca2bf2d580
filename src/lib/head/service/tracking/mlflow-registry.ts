import {Turns} from '../files/durable.ts'
import {Failure} from '../failure.ts'
import {askMlflow, type MlflowPlace} from './mlflow-reader.ts'
import {OWNER_TAG, type RegistryLookup, type RegisteredModel} from './scope-registry.ts'

const API = '/api/2.0/mlflow'

interface WireModel {
  registered_model?: {tags?: {key: string; value: string}[]}
}
interface WireVersions {
  model_versions?: {run_id?: string}[]
}
interface WireRun {
  run?: {info?: {experiment_id?: string}}
}

/**
 * Whose a registered model is, asked anew each time: writes to the registry are rare, and an administrator may give a
 * model away.
 */
export function openRegistry(place: MlflowPlace): RegistryLookup {
  const turns = new Turns()
  const read = async <T>(path: string): Promise<T | undefined> => {
    const {status, text} = await askMlflow(place, path)
    if (status === 404) return undefined
    if (status !== 200)
      throw new Failure(502, 'HEAD_FAILED', `the tracking server does not say whose the model is (status ${status})`)
    return JSON.parse(text) as T
  }
  const registered = async (name: string): Promise<RegisteredModel | undefined> => {
    const found = await read<WireModel>(`${API}/registered-models/get?${new URLSearchParams({name})}`)
    if (!found?.registered_model) return undefined
    const owner = found.registered_model.tags?.find((tag) => tag.key === OWNER_TAG)?.value
    if (owner) return {owner, isEmpty: false}
    const query = {filter: `name='${name.replaceAll("'", "\\'")}'`, max_results: '1', order_by: 'version_number ASC'}
    const first = (await read<WireVersions>(`${API}/model-versions/search?${new URLSearchParams(query)}`))
      ?.model_versions?.[0]
    const run = first?.run_id
      ? await read<WireRun>(`${API}/runs/get?${new URLSearchParams({run_id: first.run_id})}`)
      : undefined
    return {owner: run?.run?.info?.experiment_id, isEmpty: first === undefined}
  }
  return {
    registered,
    claim: (name, experimentId) =>
      turns.take(async () => {
        const model = await registered(name)
        if (!model?.isEmpty) return model?.owner
        const {status} = await askMlflow(place, `${API}/registered-models/set-tag`, {
          name,
          key: OWNER_TAG,
          value: experimentId,
        })
        if (status !== 200)
          throw new Failure(
            502,
            'HEAD_FAILED',
            `the tracking server does not note whose the model is (status ${status})`,
          )
        return experimentId
      }),
  }
}
