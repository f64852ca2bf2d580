import {isCliError} from '../base/index.ts'
import {readPages, type Api} from './api.ts'
import {
  loggedModelOf,
  modelOf,
  pairs,
  versionOf,
  type WireLoggedModel,
  type WireModel,
  type WireVersion,
} from './wire.ts'
import type {LoggedModel, ModelVersion, RegisteredModel} from './types.ts'

/** Registered models, their versions and aliases, and the models logged in runs. Errors as in RunCalls. */
export interface RegistryCalls {
  /** All models, or those a filter (MLflow's grammar, `name LIKE 'digits%'`) selects. */
  searchModels(filter?: string): Promise<RegisteredModel[]>
  getModel(name: string): Promise<RegisteredModel>
  /** Makes the model if it is not there. */
  ensureModel(name: string): Promise<void>
  deleteModel(name: string): Promise<void>
  createVersion(input: {
    name: string
    source: string
    runId?: string
    modelId?: string
    description?: string
    tags?: Record<string, string>
  }): Promise<ModelVersion>
  getVersion(name: string, version: string): Promise<ModelVersion>
  /** Newest first. */
  listVersions(name: string): Promise<ModelVersion[]>
  searchVersions(filter: string): Promise<ModelVersion[]>
  setVersionTag(name: string, version: string, key: string, value: string): Promise<void>
  deleteVersion(name: string, version: string): Promise<void>
  getVersionByAlias(name: string, alias: string): Promise<ModelVersion>
  setAlias(name: string, alias: string, version: string): Promise<void>
  deleteAlias(name: string, alias: string): Promise<void>
  /** Where the version's files are, for listStored and downloadStored. */
  versionUri(name: string, version: string): Promise<string>
  getLoggedModel(id: string): Promise<LoggedModel>
  /** Models that were logged in a run, newest first. */
  loggedModels(experimentId: string, runId: string): Promise<LoggedModel[]>
}

export function registryCalls(api: Api): RegistryCalls {
  const searchVersions = (filter: string): Promise<ModelVersion[]> =>
    readPages(Infinity, async (token) => {
      const page = await api.get<{model_versions?: WireVersion[]; next_page_token?: string}>('/model-versions/search', {
        filter,
        max_results: 1000,
        page_token: token,
      })
      return {items: page.model_versions?.map(versionOf), next: page.next_page_token}
    })
  return {
    searchModels: (filter) =>
      readPages(Infinity, async (token) => {
        const page = await api.get<{registered_models?: WireModel[]; next_page_token?: string}>(
          '/registered-models/search',
          {filter, max_results: 100, page_token: token},
        )
        return {items: page.registered_models?.map(modelOf), next: page.next_page_token}
      }),
    getModel: async (name) =>
      modelOf((await api.get<{registered_model: WireModel}>('/registered-models/get', {name})).registered_model),
    async ensureModel(name) {
      try {
        await api.send('POST', '/registered-models/create', {name})
      } catch (error) {
        if (!isCliError(error, 'CONFLICT')) throw error
      }
    },
    deleteModel: (name) => api.send('DELETE', '/registered-models/delete', {name}),
    async createVersion({name, source, runId, modelId, description, tags}) {
      const body = {name, source, run_id: runId, model_id: modelId, description, tags: pairs(tags)}
      return versionOf(
        (await api.send<{model_version: WireVersion}>('POST', '/model-versions/create', body)).model_version,
      )
    },
    getVersion: async (name, version) =>
      versionOf((await api.get<{model_version: WireVersion}>('/model-versions/get', {name, version})).model_version),
    async listVersions(name) {
      const versions = await searchVersions(`name='${name.replaceAll("'", "\\'")}'`)
      return versions.sort((a, b) => Number(b.version) - Number(a.version))
    },
    searchVersions,
    setVersionTag: (name, version, key, value) =>
      api.send('POST', '/model-versions/set-tag', {name, version, key, value}),
    deleteVersion: (name, version) => api.send('DELETE', '/model-versions/delete', {name, version}),
    getVersionByAlias: async (name, alias) =>
      versionOf((await api.get<{model_version: WireVersion}>('/registered-models/alias', {name, alias})).model_version),
    setAlias: (name, alias, version) => api.send('POST', '/registered-models/alias', {name, alias, version}),
    deleteAlias: (name, alias) => api.send('DELETE', '/registered-models/alias', {name, alias}),
    versionUri: async (name, version) =>
      (await api.get<{artifact_uri: string}>('/model-versions/get-download-uri', {name, version})).artifact_uri,
    getLoggedModel: async (id) =>
      loggedModelOf((await api.get<{model: WireLoggedModel}>(`/logged-models/${encodeURIComponent(id)}`)).model),
    async loggedModels(experimentId, runId) {
      const body = {
        experiment_ids: [experimentId],
        filter: `source_run_id = '${runId.replaceAll("'", '')}'`,
        max_results: 50,
      }
      const {models} = await api.send<{models?: WireLoggedModel[]}>('POST', '/logged-models/search', body)
      return (models ?? []).map(loggedModelOf)
    },
  }
}
