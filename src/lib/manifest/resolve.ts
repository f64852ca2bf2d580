import {realpath, stat} from 'node:fs/promises'
import {dirname, isAbsolute, join, posix, relative, resolve, sep} from 'node:path'
import {nearestName, problemAt, type Path, type Problem, type Source} from '../document/index.ts'
import {durationSeconds, sweepSeconds} from './duration.ts'
import {resolveHang} from './hang.ts'
import type {ManifestFile} from './schema.ts'
import {readNodeRange} from './node-range.ts'
import {checkEndpoint, resolveEndpoint} from './endpoint.ts'
import {slurmTime} from './slurm-time.ts'
import {checkSweep, resolveSweep} from './sweep-rules.ts'
import type {
  CheckpointSpec,
  GpusSpec,
  IsolateSpec,
  LeasedSpec,
  Manifest,
  SlurmSpec,
  TrainSpec,
  WorkspaceSpec,
} from './types.ts'
import {splitWords} from './words.ts'

type Report = (path: Path, message: string, more?: {expected?: string; nearest?: string}) => void

/** The checks that need more than one key or the disk, on the sections that are valid in themselves. */
export async function checkSections(
  source: Source,
  {workspace, train, sweep, endpoints}: Partial<Pick<ManifestFile, 'workspace' | 'train' | 'sweep' | 'endpoints'>>,
): Promise<Problem[]> {
  const problems: Problem[] = []
  const report: Report = (path, message, more = {}) =>
    problems.push(problemAt(source, source.span(path, 'value'), message, more))
  const python = workspace?.python
  if (typeof python === 'string') await checkRequirements(dirname(source.file), python, ['workspace', 'python'], report)
  else if (python?.requirements !== undefined)
    await checkRequirements(dirname(source.file), python.requirements, ['workspace', 'python', 'requirements'], report)
  if (workspace) checkUnique(workspace.forward, ['workspace', 'forward'], report)
  if (train) checkTrain(train, report)
  if (sweep) checkSweep(sweep, train, report)
  for (const [name, one] of Object.entries(endpoints ?? {})) checkEndpoint(one, ['endpoints', name], report)
  return problems
}

/** From the file's keys to the manifest. */
export function resolveManifest(source: Source, file: ManifestFile): Manifest {
  const folder = dirname(source.file)
  const {python: given} = file.workspace
  const {requirements: python, version} =
    typeof given === 'string'
      ? {requirements: given, version: undefined}
      : {requirements: given?.requirements, version: given?.version}
  return {
    path: source.file,
    folder,
    name: file.name,
    ...(file.rack !== undefined && {rack: looksLikeFile(file.rack) ? resolve(folder, file.rack) : file.rack}),
    workspace: {
      ...(python !== undefined && {python: posix.normalize(python)}),
      ...(version !== undefined && {pythonVersion: version}),
      ...(file.workspace.image !== undefined && {image: file.workspace.image}),
      ...resolveIsolate(file.workspace.isolate),
      ...resolveAutosave(file.workspace.autosave),
      exclude: file.workspace.sync.exclude,
      forward: file.workspace.forward,
      env: file.workspace.env,
    },
    ...(file.gpus && {gpus: file.gpus as GpusSpec}),
    ...(file.train && {train: resolveTrain(file.train)}),
    ...(file.sweep && {sweep: resolveSweep(file.sweep)}),
    ...(file.data.length > 0 && {data: file.data}),
    ...(file.volumes.length > 0 && {
      volumes: file.volumes.map((word) => ({name: word.split(':')[0] as string, write: word.endsWith(':rw')})),
    }),
    tracking: {
      ...(file.tracking.uri !== undefined && {uri: file.tracking.uri.replace(/\/+$/, '')}),
      experiment: file.tracking.experiment ?? file.name,
    },
    endpoints: Object.fromEntries(
      Object.entries(file.endpoints).map(([name, one]) => [name, resolveEndpoint(one, folder)]),
    ),
  }
}

/** Rack given as a path, not as a name. */
function looksLikeFile(rack: string): boolean {
  return rack.includes('/') || rack.includes(sep) || /\.ya?ml$/.test(rack)
}

function checkTrain(train: NonNullable<ManifestFile['train']>, report: Report): void {
  for (const [index, output] of train.outputs.entries()) checkInside(output, ['train', 'outputs', index], report)
  checkUnique(
    train.outputs.map((output) => posix.normalize(output)),
    ['train', 'outputs'],
    report,
  )
  if (train.gpus !== undefined && train.share_gpus)
    report(
      ['train', 'share_gpus'],
      "train.share_gpus and train.gpus do not go together: GPUs that are chosen for a rank are its run's alone",
    )
  if (train.preemptible && train.checkpoint === undefined)
    report(
      ['train', 'preemptible'],
      'train.preemptible needs train.checkpoint: without one the run would begin anew each time it makes room',
      {expected: 'checkpoint: checkpoints/'},
    )
  if (train.preemptible && typeof train.gpus === 'object' && resolveGpus(train.gpus).leased)
    report(
      ['train', 'preemptible'],
      'train.preemptible and leased GPUs (train.gpus with remote, memory or fraction) do not go together: what is lent is not kept in line',
    )
  if (typeof train.nodes === 'string' && !readNodeRange(train.nodes))
    report(['train', 'nodes'], `train.nodes is ${train.nodes}: the fewest come first, then the most`, {
      expected: '2..8',
    })
  if ((train.launcher === 'plain' || train.launcher === 'ray') && train.processes_per_node > 1) {
    report(
      ['train', 'processes_per_node'],
      `train.processes_per_node must be 1 with the launcher ${train.launcher}, which starts one process a node`,
      {expected: '1'},
    )
  }
}

function resolveTrain(train: NonNullable<ManifestFile['train']>): TrainSpec {
  const command = typeof train.command === 'string' ? splitWords(train.command) : train.command
  const grace = typeof train.grace === 'number' ? train.grace : (durationSeconds(train.grace) ?? 0)
  return {
    command: Array.isArray(command) ? command : [],
    launcher: train.launcher,
    ...nodesOf(train.nodes),
    spares: train.spares,
    withoutProgress: train.restart.without_progress,
    ...(train.restarts > 0 && train.restart.after_reboot !== 'stay' && {afterReboot: train.restart.after_reboot}),
    ...(train.checkpoint !== undefined && {checkpoint: checkpointOf(train.checkpoint)}),
    processesPerNode: train.processes_per_node,
    restarts: train.restarts,
    outputs: train.outputs.map((output) => posix.normalize(output)),
    ...(Object.keys(train.inputs).length > 0 && {inputs: train.inputs}),
    ...(train.uploads.length > 0 && {
      uploads: train.uploads.map(({to, files}) => ({to, files: files.map((file) => posix.normalize(file))})),
    }),
    env: train.env,
    grace,
    ...(train.time_limit !== undefined && {timeLimit: sweepSeconds(train.time_limit)!}),
    ...(train.priority !== 0 && {priority: train.priority}),
    ...(train.preemptible && {preemptible: true}),
    ...(!train.watch && {watch: false}),
    ...(train.hang && {hang: resolveHang(train.hang)}),
    exclusive: train.exclusive,
    shareGpus: train.share_gpus,
    ...resolveGpus(train.gpus),
    ...(train.scheduler !== undefined && {scheduler: train.scheduler}),
    slurm: resolveSlurm(train.slurm),
  }
}

function resolveGpus(gpus: NonNullable<ManifestFile['train']>['gpus']): Pick<TrainSpec, 'gpus' | 'leased'> {
  if (typeof gpus !== 'object') return gpus === undefined ? {} : {gpus}
  const {count, ...leased} = gpus
  return {
    gpus: count,
    ...((leased.remote || leased.memory !== undefined || leased.fraction !== undefined) && {
      leased: leased as LeasedSpec,
    }),
  }
}

function resolveIsolate(isolate: ManifestFile['workspace']['isolate']): Pick<WorkspaceSpec, 'isolate'> {
  if (isolate === undefined || isolate === false) return {}
  if (isolate === true) return {isolate: {network: 'host'}}
  const {memory, ...rest} = isolate
  return {isolate: {...rest, ...(memory !== undefined && {memory: bytesOf(memory)})} as IsolateSpec}
}

function resolveAutosave(autosave: ManifestFile['workspace']['autosave']): Pick<WorkspaceSpec, 'autosave'> {
  if (autosave === undefined) return {}
  const {every, largest} = typeof autosave === 'string' ? {every: autosave, largest: undefined} : autosave
  return {autosave: {every: sweepSeconds(every) ?? 600, ...(largest !== undefined && {largest: bytesOf(largest)})}}
}

function bytesOf(size: string): number {
  const [, digits = '0', unit = 'K'] = /^(\d+)\s*([KMGT])/i.exec(size) ?? []
  return Number(digits) * 1024 ** ('KMGT'.indexOf(unit.toUpperCase()) + 1)
}

/** `2..8` as {minNodes: 2, nodes: 8}. */
function nodesOf(nodes: number | string): Pick<TrainSpec, 'nodes' | 'minNodes'> {
  return typeof nodes === 'number' ? {nodes} : (readNodeRange(nodes) ?? {nodes: 1})
}

function checkpointOf(checkpoint: NonNullable<NonNullable<ManifestFile['train']>['checkpoint']>): CheckpointSpec {
  if (typeof checkpoint === 'string') return {path: checkpoint}
  const {path, marker, copies} = checkpoint
  return {path, ...(marker !== undefined && {marker}), ...(copies !== undefined && {copies})}
}

function resolveSlurm({time, gpus, memory, ...rest}: NonNullable<ManifestFile['train']>['slurm']): SlurmSpec {
  return {
    ...rest,
    ...(time !== undefined && {time: slurmTime(time)}),
    ...(gpus !== undefined && {gpus: String(gpus)}),
    ...(memory !== undefined && {memory: memory.replace(/\s|i?B$/gi, '').toUpperCase()}),
  } as SlurmSpec
}

/** Reports a path that is absolute, leaves the project folder, or is the folder itself. */
function checkInside(path: string, at: Path, report: Report): void {
  const label = at
    .map((part) => (typeof part === 'number' ? `[${part}]` : String(part)))
    .join('.')
    .replaceAll('.[', '[')
  const normal = posix.normalize(path)
  if (isAbsolute(path)) report(at, `${label} must be relative to the project folder, not ${path}`)
  else if (normal === '..' || normal.startsWith('../')) report(at, `${label} leaves the project folder: ${path}`)
  else if (normal === '.' || normal === './')
    report(at, `${label} must name something inside the project folder, not the folder itself`)
}

async function checkRequirements(folder: string, named: string, at: string[], report: Report): Promise<void> {
  const python = named.replace(/(pyproject\.toml)\[[^\]]*\]$/, '$1')
  const before = isAbsolute(python) || posix.normalize(python).startsWith('..')
  checkInside(python, at, report)
  if (before) return
  const path = join(folder, python)
  const found = await stat(path).catch(() => undefined)
  if (!found) {
    const {readdir} = await import('node:fs/promises')
    const names = await readdir(dirname(path)).catch(() => [])
    const near = nearestName(python.slice(python.lastIndexOf('/') + 1), names)
    const nearest = near && posix.join(posix.dirname(python), near)
    return report(
      at,
      `workspace.python: there is no file ${python} in the project folder${nearest ? `; did you mean "${nearest}"?` : ''}`,
      {expected: 'a requirements file', ...(nearest && {nearest})},
    )
  }
  if (!found.isFile()) return report(at, `workspace.python: ${python} is not a file`, {expected: 'a requirements file'})
  const real = relative(await realpath(folder), await realpath(path))
  if (real.startsWith('..') || isAbsolute(real))
    report(at, `workspace.python: ${python} is a link that leaves the project folder`)
}

function checkUnique(values: readonly (string | number)[], at: string[], report: Report): void {
  for (const [index, value] of values.entries()) {
    if (values.indexOf(value) < index) report([...at, index], `${at.join('.')} has ${value} twice`)
  }
}
