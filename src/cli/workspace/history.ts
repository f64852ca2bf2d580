import {CliError, type Context} from '../../lib/base/index.ts'
import type {
  CopiedHistory,
  CopyKinds,
  Moment,
  Restored,
  RestoreKinds,
  WorkspaceDiff,
  WorkspaceHistory,
} from '../../lib/history/index.ts'
import type {Host} from '../../lib/host/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import type {ProjectSession} from '../base/session.ts'
import {planText} from '../terminal/render.ts'
import {copiedText, historyText, restoredFilesText, restoredText} from './history-text.ts'
import {openHosts, throwIfNodesFailed} from './hosts.ts'
import {oneNode} from './nodes.ts'

type Answer = <T>(value: T, text: (value: T) => string) => T

export interface WhenFlags {
  on?: string | undefined
  at?: string | undefined
  run?: string | undefined
  path?: string | undefined
}

/** What `workspace history` answers after --save, --anew and --copy. */
export type SavedAnswer =
  | CopiedHistory
  | {node: string; project: string; snapshot: string | null; made: boolean; unreadable: string[]}
  | {node: string; project: string; aside: string}

/** `workspace history`. */
export async function showSaved(
  flags: WhenFlags & {save: boolean; anew: boolean; copy?: string | undefined; dryRun: boolean},
  session: ProjectSession,
  context: Context,
  answer: Answer,
): Promise<WorkspaceHistory | SavedAnswer | Plan> {
  const {showHistory} = await import('../../lib/history/index.ts')
  const {host, project} = await theHost(flags.on, session, context)
  const path = insideProject(flags.path)
  if (flags.copy !== undefined) return copySaved(host, project, flags.copy, flags.dryRun, context, answer)
  if (flags.dryRun) {
    if (!flags.save && !flags.anew) throw new CliError('USAGE', 'this only looks', {hint: 'leave --dry-run out'})
    const title = flags.anew
      ? `Put the history of ${project} aside, with its key, and begin another one`
      : 'Save the workspace'
    const kind = flags.anew ? 'history.anew' : 'history.save'
    const step = {id: `history:${host.node}`, node: host.node, kind, title, input: {project}, needs: []}
    return answer<Plan>({command: 'workspace history', steps: [step]}, planText)
  }
  if (flags.anew) {
    const {aside} = await host.call('history.anew', {project}, {signal: context.signal})
    return answer<SavedAnswer>(
      {node: host.node, project, aside},
      () => `Begun anew. What was saved before, and its key, is in ${aside} on ${host.node}.`,
    )
  }
  if (flags.save) {
    const {withProgress} = await import('../../lib/base/index.ts')
    const {snapshot, made, unreadable} = await withProgress(context.reporter, ['Save the workspace', host.node], () =>
      host.call('history.save', {project}, {signal: context.signal}),
    )
    for (const one of unreadable.slice(0, 5)) context.reporter.warn(`${one} could not be read, and is not saved`)
    const text =
      snapshot === null
        ? 'There is nothing to save.'
        : made
          ? `Saved as ${snapshot.slice(0, 8)}.`
          : `Nothing has changed since ${snapshot.slice(0, 8)}.`
    return answer<SavedAnswer>({node: host.node, project, snapshot, made, unreadable}, () => text)
  }
  return answer<WorkspaceHistory>(await showHistory(host, project, path, context), (found) => historyText(found, path))
}

async function copySaved(
  host: Host,
  project: string,
  to: string,
  dryRun: boolean,
  context: Context,
  answer: Answer,
): Promise<CopiedHistory | Plan> {
  const [{COPY}, {executePlan, throwIfFailed, valuesOf}] = await Promise.all([
    import('../../lib/history/index.ts'),
    import('../../lib/plan/index.ts'),
  ])
  const plan = await COPY.plan(host, project, to, context)
  if (dryRun) return answer<Plan>(plan, planText)
  const outcomes = await executePlan(plan, COPY.handlers, {host, context}, context)
  throwIfFailed(outcomes)
  return answer<CopiedHistory>(
    valuesOf<CopyKinds, 'history.copy'>(outcomes, 'history.copy')[0] as CopiedHistory,
    copiedText,
  )
}

/** `workspace diff`. */
export async function diffSaved(
  flags: WhenFlags & {text: boolean},
  session: ProjectSession,
  context: Context,
): Promise<WorkspaceDiff> {
  const {diffHistory} = await import('../../lib/history/index.ts')
  const {host, project} = await theHost(flags.on, session, context)
  const path = insideProject(flags.path)
  return diffHistory(host, project, {...(await wishOf(flags)), ...(path !== undefined && {path})}, flags.text, context)
}

/** `workspace restore`. */
export async function restoreSaved(
  flags: WhenFlags & {
    to?: string | undefined
    inPlace: boolean | undefined
    remove: boolean | undefined
    dryRun: boolean
  },
  session: ProjectSession,
  context: Context,
  answer: Answer,
): Promise<Plan | Restored> {
  const [{RESTORE}, {executePlan, throwIfFailed, valuesOf}] = await Promise.all([
    import('../../lib/history/index.ts'),
    import('../../lib/plan/index.ts'),
  ])
  const {host, project} = await theHost(flags.on, session, context)
  const path = insideProject(flags.path)
  const wish = {
    ...(await wishOf(flags)),
    ...(path !== undefined && {path}),
    inPlace: flags.inPlace ?? false,
    remove: flags.remove ?? false,
    ...(flags.to !== undefined && {to: flags.to}),
  }
  const plan = await RESTORE.plan(host, project, wish, context)
  if (flags.dryRun) {
    return answer<Plan>(plan, () =>
      [planText(plan), ...plan.steps.map(({input}) => restoredFilesText(input.files))].filter(Boolean).join('\n'),
    )
  }
  const outcomes = await executePlan(plan, RESTORE.handlers, {host, context}, context)
  throwIfFailed(outcomes)
  const nothing: Restored = {
    node: host.node,
    project,
    snapshot: '',
    at: '',
    folder: null,
    here: false,
    files: [],
    before: null,
    count: 0,
    bytes: 0,
    lost: [],
    refused: [],
  }
  const restored = valuesOf<RestoreKinds, 'history.restore'>(outcomes, 'history.restore')[0] ?? nothing
  for (const one of restored.lost.slice(0, 10))
    context.reporter.warn(`${one} cannot be read any more, and is not there`)
  for (const one of restored.refused.slice(0, 10))
    context.reporter.warn(`${one} is a link that leads out of the folder, and was left out`)
  return answer<Restored>(restored, (one) => restoredText(one, path))
}

async function theHost(
  on: string | undefined,
  {rack, fleet, manifest}: ProjectSession,
  context: Context,
): Promise<{host: Host; project: string}> {
  const node = oneNode(rack, on)
  const {hosts, failed} = await openHosts(fleet, [node], context)
  await throwIfNodesFailed([node], failed)
  const [host] = hosts
  if (!host) throw new CliError('BUG', 'no host')
  return {host, project: manifest.name}
}

export async function wishOf({at, run}: WhenFlags): Promise<Moment & {run?: string}> {
  const {readMoment} = await import('../../lib/history/index.ts')
  return run === undefined ? readMoment(at) : {run}
}

/** As a node takes it. Errors: USAGE. */
export function insideProject(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (path.startsWith('/') || parts.includes('..') || path.includes('\0')) {
    throw new CliError('USAGE', `${path} is not a path inside the project`, {
      hint: 'name it as it is below the project folder',
    })
  }
  return parts.length === 0 ? undefined : parts.join('/')
}
