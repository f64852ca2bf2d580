import {createHash} from 'node:crypto'
import {gzipSync} from 'node:zlib'
import type {Attested} from '../../src/lib/attest/index.ts'
import {treeDigest} from '../../src/lib/lineage/pack.ts'
import type {Evidence, ServedRelease} from '../../src/lib/lineage/types.ts'
import type {CodeTree, RunRecord} from '../../src/lib/protocol/index.ts'
import type {ModelVersion, TrackedRun} from '../../src/lib/tracking/index.ts'

export const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex')

/** A tar as nodes write it, of regular files (type 0), links (2), or whatever else is to be refused. */
export function tarOf(
  entries: {path: string; content?: string; link?: string; type?: string; mode?: number}[],
): Buffer {
  const blocks = entries.flatMap(({path, content = '', link = '', type, mode = 0o644}) => {
    const header = Buffer.alloc(512)
    header.write(path, 0)
    header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100)
    header.write(`${Buffer.byteLength(content).toString(8).padStart(11, '0')}\0`, 124)
    header.write(type ?? (link === '' ? '0' : '2'), 156)
    header.write(link, 157)
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512)
    body.write(content)
    return [header, body]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

export function treeOf(files: Record<string, string>): CodeTree {
  return {entries: Object.entries(files).map(([path, content]) => [path, 'file', sha256(content).slice(0, 32)])}
}

/** A served model, the run that made it, and all that this came from: true as long as nobody changes it. */
export class World {
  readonly files: Record<string, string> = {'train.py': 'print(1)\n', 'pkg/model.py': 'm'}
  readonly runs = new Map<string, TrackedRun>()
  readonly versions = new Map<string, ModelVersion>()
  readonly artifacts = new Map<string, Buffer>()
  readonly stored = new Map<string, Map<string, string>>()
  release: ServedRelease | undefined
  whole = true
  badData: string | undefined
  badImage: string | undefined
  said: Attested | undefined

  /** A run with its record. */
  run(name: string, change: Partial<RunRecord> = {}): TrackedRun {
    const id = sha256(name).slice(0, 32)
    const tree = treeOf(this.files)
    const pack = tarOf(Object.entries(this.files).map(([path, content]) => ({path, content})))
    const lock = 'torch==2.0\n'
    const record: RunRecord = {
      run: name,
      project: 'digits',
      status: 'finished',
      started: 1,
      ended: 2,
      user: 'ada',
      origin: {version: '0.1.0', machine: 'laptop', rack: 'lab', arguments: []},
      program: 'p',
      command: ['train.py', '--seed', '3'],
      launcher: 'plain',
      processes: 1,
      nodes: [
        {node: 'gpu1', code: 'c', kernel: '6', machine: 'x86_64', python: '3.11.2', cpu: null, cpus: 2, driver: null},
      ],
      env: [],
      seeds: {seed: '3'},
      code: {
        digest: treeDigest(tree),
        files: 2,
        bytes: 10,
        commit: null,
        pack: {sha256: sha256(pack), bytes: pack.length, files: 2},
        left_out: [],
      },
      environment: {hash: 'e', python: '3.11.2', lock: sha256(lock), packages: 1},
      data: [{name: 'pets', digest: 'd'.repeat(64)}],
      image: null,
      inputs: [],
      attempts: [{attempt: 1, status: 'finished', why: 'start', nodes: ['gpu1'], checkpoint: null}],
      outputs: [{path: 'model.onnx', sha256: sha256('model'), bytes: 5}],
      tracked: id,
      ...change,
    }
    this.artifacts.set(`${id}/lineage/tree.json`, Buffer.from(JSON.stringify({schema: 1, ...tree})))
    this.artifacts.set(`${id}/lineage/code.tar.gz`, pack)
    this.artifacts.set(`${id}/lineage/environment.txt`, Buffer.from(lock))
    const run: TrackedRun = {
      id,
      name,
      experimentId: '1',
      user: 'ada',
      status: 'FINISHED',
      startTime: 1000,
      endTime: 2000,
      artifactUri: 'mlflow-artifacts:/1/x/artifacts',
      stage: 'active',
      metrics: {},
      params: {},
      tags: {'flexrack.run': name},
    }
    this.runs.set(id, run)
    this.runs.set(name, run)
    this.keep(run, record)
    return run
  }

  /** The bytes of a run's record, and the tag that names them. */
  keep(run: TrackedRun, record: unknown): string {
    const bytes = Buffer.from(JSON.stringify({schema: 1, ...(record as object)}))
    this.artifacts.set(`${run.id}/lineage/record.json`, bytes)
    return (run.tags['flexrack.record'] = sha256(bytes))
  }

  record(run: TrackedRun): RunRecord {
    return JSON.parse(String(this.artifacts.get(`${run.id}/lineage/record.json`))) as RunRecord
  }

  /** The run's model, registered and served. */
  serve(run: TrackedRun): void {
    const record = run.tags['flexrack.record'] as string
    this.versions.set('digits/1', {
      name: 'digits',
      version: '1',
      status: 'READY',
      source: `${run.artifactUri}/model.onnx`,
      runId: run.id,
      modelId: undefined,
      description: '',
      aliases: [],
      createdAt: 3000,
      tags: {'flexrack.path': 'model.onnx', 'flexrack.sha256': sha256('model'), 'flexrack.record': record},
    })
    this.stored.set('digits/1', new Map([['model.onnx', sha256('model')]]))
    const files = [{path: 'model.onnx', bytes: 5, sha256: sha256('model')}]
    this.release = {
      id: 'r1',
      model: {name: 'digits', version: '1', files, runId: run.id, record},
      by: 'ada@laptop',
      createdAt: '2026-01-01T00:00:00Z',
      runtime: 'onnx',
      nodes: ['gpu1'],
    }
  }

  evidence(): Evidence {
    return {
      release: () => Promise.resolve(this.release),
      served: () => Promise.resolve([{node: 'gpu1', whole: this.whole}]),
      version: (name, version = '1') => Promise.resolve(this.versions.get(`${name}/${version}`)),
      versionFiles: ({name, version}) => Promise.resolve(this.stored.get(`${name}/${version}`) ?? new Map()),
      run: (name) => Promise.resolve(this.runs.get(name)),
      artifact: (run, path) => Promise.resolve(this.artifacts.get(`${run.id}/${path}`)),
      attested: () => Promise.resolve(this.said),
      data: () => Promise.resolve(this.badData),
      image: () => Promise.resolve(this.badImage),
    }
  }
}
