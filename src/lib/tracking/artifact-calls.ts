import {createHash} from 'node:crypto'
import {createReadStream, createWriteStream} from 'node:fs'
import {mkdir, rename, rm, stat} from 'node:fs/promises'
import {dirname} from 'node:path'
import {Transform, type Readable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import {CliError} from '../base/index.ts'
import {readPages, type Api} from './api.ts'
import {requestJson, requestStream} from './http.ts'
import type {ArtifactEntry} from './types.ts'

/** Files of runs and models. Paths use `/`. Errors as in RunCalls. */
export interface ArtifactCalls {
  /** What lies directly in a folder of the run's artifacts; '' is the top. */
  listArtifacts(runId: string, path?: string): Promise<ArtifactEntry[]>
  /** Every file below a folder, with its path from the top. */
  walkArtifacts(runId: string, path?: string): Promise<ArtifactEntry[]>
  /** A file's bytes, streamed. NOT_FOUND where there is none. */
  openArtifact(runId: string, path: string): Promise<Readable>
  /** Streams a local file to the run's artifacts; gives its size and SHA-256 as sent. */
  uploadArtifact(runId: string, path: string, file: string): Promise<Transferred>
  /** Streams a file of the run to a local path, whole or not at all. */
  downloadArtifact(runId: string, path: string, file: string): Promise<Transferred>
  /**
   * The same for a place in the server's store, such as the source of a model version: an `mlflow-artifacts:` or
   * `models:/m-…` URI.
   */
  listStored(uri: string, path?: string): Promise<ArtifactEntry[]>
  walkStored(uri: string): Promise<ArtifactEntry[]>
  openStored(uri: string, path: string): Promise<Readable>
  downloadStored(uri: string, path: string, file: string): Promise<Transferred>
}

export interface Transferred {
  bytes: number
  sha256: string
}

const UPLOAD_TIMEOUT_MS = 30 * 60_000

export function artifactCalls(api: Api): ArtifactCalls {
  const listArtifacts = (runId: string, path = ''): Promise<ArtifactEntry[]> =>
    readPages(Infinity, async (token) => {
      const page = await api.get<{files?: WireFile[]; next_page_token?: string}>('/artifacts/list', {
        run_id: runId,
        path: path || undefined,
        page_token: token,
      })
      return {items: page.files?.map(entryOf), next: page.next_page_token}
    })
  const openArtifact = async (runId: string, path: string): Promise<Readable> =>
    (await requestStream(api.request('GET', '//get-artifact', {run_uuid: runId, path}))).body
  const listStored = async (uri: string, path = ''): Promise<ArtifactEntry[]> => {
    const folder = join(await storePath(api, uri), path)
    const {files} = await api.get<{files?: WireFile[]}>('/api/2.0/mlflow-artifacts/artifacts', {path: folder})
    // the server's paths are relative to the folder asked for
    return (files ?? []).map(entryOf).map((entry) => ({...entry, path: join(path, entry.path)}))
  }
  const openStored = async (uri: string, path: string): Promise<Readable> =>
    (
      await requestStream(
        api.request('GET', `/api/2.0/mlflow-artifacts/artifacts/${encodePath(join(await storePath(api, uri), path))}`),
      )
    ).body
  return {
    listArtifacts,
    openArtifact,
    listStored,
    openStored,
    walkArtifacts: (runId, path = '') => walk((folder) => listArtifacts(runId, folder), path),
    walkStored: (uri) => walk((folder) => listStored(uri, folder), ''),
    async uploadArtifact(runId, path, file) {
      const {run} = await api.get<{run: {info: {artifact_uri: string}}}>('/runs/get', {run_id: runId})
      const target = join(await storePath(api, run.info.artifact_uri), path)
      const {size} = await stat(file)
      const meter = new Meter()
      const source = createReadStream(file).on('error', (error) => meter.destroy(error))
      const body = size === 0 ? new Uint8Array(0) : source.pipe(meter)
      const headers = {'content-type': 'application/octet-stream', 'content-length': String(size)}
      await requestJson({
        ...api.request('PUT', `/api/2.0/mlflow-artifacts/artifacts/${encodePath(target)}`),
        body,
        headers,
        timeout: UPLOAD_TIMEOUT_MS,
      })
      return meter.result()
    },
    downloadArtifact: async (runId, path, file) => save(await openArtifact(runId, path), file),
    downloadStored: async (uri, path, file) => save(await openStored(uri, path), file),
  }
}

interface WireFile {
  path: string
  is_dir?: boolean
  file_size?: number | string
}

function entryOf(wire: WireFile): ArtifactEntry {
  return {path: wire.path, isFolder: wire.is_dir ?? false, size: wire.is_dir ? undefined : Number(wire.file_size ?? 0)}
}

async function walk(list: (folder: string) => Promise<ArtifactEntry[]>, folder: string): Promise<ArtifactEntry[]> {
  const entries = await list(folder)
  const parts = await Promise.all(entries.map((entry) => (entry.isFolder ? walk(list, entry.path) : [entry])))
  return parts.flat()
}

/** The path in the server's own artifact store that a URI means; a logged model's URI is looked up first. */
async function storePath(api: Api, uri: string): Promise<string> {
  const model = /^models:\/(m-[^/]+)$/.exec(uri)
  if (model) {
    const answer = await api.get<{model: {info: {artifact_uri: string}}}>(`/logged-models/${model[1]}`)
    return storePath(api, answer.model.info.artifact_uri)
  }
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  if (url?.protocol === 'mlflow-artifacts:') return decodeURIComponent(url.pathname).replace(/^\/+/, '')
  throw new CliError('HEAD_FAILED', `the tracking server ${api.base} does not serve the artifacts at ${uri}`, {
    hint: 'start that MLflow server with --serve-artifacts, so that artifacts go through it',
  })
}

async function save(body: Readable, file: string): Promise<Transferred> {
  await mkdir(dirname(file), {recursive: true})
  const part = `${file}.part-${process.pid}`
  const meter = new Meter()
  try {
    await pipeline(body, meter, createWriteStream(part))
    await rename(part, file)
  } catch (error) {
    await rm(part, {force: true})
    throw error
  }
  return meter.result()
}

/** Passes bytes on, counts and hashes them. */
class Meter extends Transform {
  #hash = createHash('sha256')
  #bytes = 0

  override _transform(chunk: Buffer, _encoding: string, done: (error: null, data: Buffer) => void): void {
    this.#hash.update(chunk)
    this.#bytes += chunk.length
    done(null, chunk)
  }

  result(): Transferred {
    return {bytes: this.#bytes, sha256: this.#hash.digest('hex')}
  }
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

function join(folder: string, path: string): string {
  return [folder, path]
    .filter((part) => part !== '')
    .join('/')
    .replace(/\/{2,}/g, '/')
}
