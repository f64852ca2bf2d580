import {isDeepStrictEqual} from 'node:util'
import {CliError, withProgress, type Context} from '../base/index.ts'
import {WHEELS, type Host} from '../host/index.ts'
import type {AutosaveSpec, Manifest} from '../manifest/index.ts'
import type {StepOf} from '../plan/index.ts'
import type {HistoryInspected} from '../protocol/index.ts'
import {warnOfReboot} from '../reboot/index.ts'
import type {WorkspaceKinds} from './steps.ts'

/** A workspace that its node saves by itself; `every` null: not any more. */
export type AutosaveInput = {
  node: string
  project: string
  /** Seconds. */
  every: number | null
  /** Patterns as in .gitignore. */
  exclude: string[]
  /** Bytes; null: as by default. */
  largest: number | null
  /** The kind of machine whose restic is to be sent; null: none is. */
  lacks: string | null
}

/** Undefined where the manifest asks for none. Errors: NODE_UNFIT where the node cannot have it. */
export async function inspectAutosave(
  host: Host,
  {name, workspace}: Manifest,
  context: Context,
): Promise<HistoryInspected | undefined> {
  if (!workspace.autosave) return undefined
  const found = await host.call('history.inspect', {project: name}, {signal: context.signal})
  if (found.why !== null) {
    throw new CliError('NODE_UNFIT', `${host.node} cannot save workspaces (workspace.autosave): ${found.why}`, {
      ...(found.hint !== null && {hint: found.hint}),
      details: {node: host.node},
    })
  }
  return found
}

/** None where it is so already. Pure. */
export function autosaveSteps(
  node: string,
  project: string,
  wanted: AutosaveSpec | undefined,
  exclude: string[],
  found: HistoryInspected | undefined,
  isOn: boolean,
  syncs: boolean,
): StepOf<WorkspaceKinds>[] {
  if (!wanted || !found) {
    const input = {node, project, every: null, exclude: [], largest: null, lacks: null}
    return isOn ? [stepOf(input, 'Save it by itself no more; what was saved stays', [])] : []
  }
  const largest = wanted.largest ?? null
  const isSo =
    found.running &&
    found.restic !== null &&
    found.every === wanted.every &&
    found.largest === largest &&
    isDeepStrictEqual(found.exclude, exclude)
  if (isSo) return []
  const brings = found.lacks === null ? '' : `, with restic ${WHEELS.resticVersion()}, which comes along`
  const input = {node, project, every: wanted.every, exclude, largest, lacks: found.lacks}
  const title = `Save it by itself every ${inWords(wanted.every)}${brings}`
  return [stepOf(input, title, syncs ? [`sync:${node}`] : [])]
}

const stepOf = (input: AutosaveInput, title: string, needs: string[]): StepOf<WorkspaceKinds> => ({
  id: `autosave:${input.node}`,
  node: input.node,
  kind: 'workspace.autosave',
  title,
  input,
  needs,
})

function inWords(seconds: number): string {
  for (const [size, name] of [
    [3600, 'h'],
    [60, 'min'],
  ] as const) {
    if (seconds >= size && seconds % size === 0) return `${seconds / size} ${name}`
  }
  return `${seconds} s`
}

/** Has the node do it. */
export async function settleAutosave(
  host: Host,
  {project, every, exclude, largest, lacks}: AutosaveInput,
  context: Context,
): Promise<{node: string}> {
  if (every === null) {
    await host.call('history.off', {project}, {signal: context.signal})
    return {node: host.node}
  }
  if (lacks !== null) await bringRestic(host, lacks, context)
  const {comes_back: comesBack} = await host.call(
    'history.on',
    {project, every, exclude, largest},
    {signal: context.signal},
  )
  warnOfReboot(host.node, 'the saving of workspaces', comesBack, context)
  return {node: host.node}
}

async function bringRestic(host: Host, machine: string, context: Context): Promise<void> {
  const {name, sha256, bytes} = await WHEELS.restic(machine, context)
  await withProgress(
    context.reporter,
    [`Send restic ${WHEELS.resticVersion()}, which saves workspaces`, host.node],
    () => host.call('history.tool', {name, sha256}, {body: bytes, signal: context.signal}),
  )
}
