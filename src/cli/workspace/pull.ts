import {resolve} from 'node:path'
import {CliError, count, sizeText, type Context} from '../../lib/base/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import type {Pulled, PulledFile, PullKinds} from '../../lib/workspace/index.ts'
import type {ProjectSession} from '../base/session.ts'
import {planText, table} from '../terminal/render.ts'
import {openHosts, throwIfNodesFailed} from './hosts.ts'
import {oneNode} from './nodes.ts'

export interface PullFlags {
  on?: string | undefined
  paths: string[]
  overwrite: boolean
  to?: string | undefined
  dryRun: boolean
}

/** `workspace pull`: from one node. */
export async function pullFiles(
  flags: PullFlags,
  {rack, fleet, manifest}: ProjectSession,
  context: Context,
  answer: <T>(value: T, text: (value: T) => string) => T,
): Promise<Plan | Pulled> {
  const {PULL} = await import('../../lib/workspace/index.ts')
  const {executePlan, throwIfFailed, valuesOf} = await import('../../lib/plan/index.ts')
  const node = oneNode(rack, flags.on)
  const {hosts, failed} = await openHosts(fleet, [node], context)
  await throwIfNodesFailed([node], failed)
  const [host] = hosts
  if (!host) throw new CliError('BUG', 'no host')
  const paths = flags.paths.map((path) => path.replace(/^\.\//, '').replace(/\/+$/, ''))
  const plan = await PULL.plan(
    host,
    manifest,
    {paths, overwrite: flags.overwrite, to: flags.to && resolve(flags.to)},
    context,
  )
  if (flags.dryRun)
    return answer<Plan>(plan, () => [planText(plan), ...plan.steps.map(({input}) => pulledTable(input))].join('\n'))
  const outcomes = await executePlan(plan, PULL.handlers, {host: () => host, context}, context)
  throwIfFailed(outcomes)
  return answer<Pulled>(
    valuesOf<PullKinds, 'workspace.pull'>(outcomes, 'workspace.pull')[0] ?? {
      node: host.node,
      project: manifest.name,
      files: [],
      skipped: [],
    },
    pulledText,
  )
}

function pulledText(pulled: Pulled): string {
  const came = pulled.files.filter(({what}) => what === 'bring' || what === 'conflict')
  return [
    pulledTable(pulled),
    came.length === 0
      ? `${pulled.node} has nothing that is not here.`
      : `${count(came.length, 'file')} came from ${pulled.node}.`,
  ]
    .filter(Boolean)
    .join('\n\n')
}

const WHAT: Record<PulledFile['what'], string> = {
  bring: 'comes',
  same: 'the same',
  conflict: 'both changed',
  left: 'stays here',
}

function pulledTable({files, skipped}: Pick<Pulled, 'files' | 'skipped'>): string {
  const why = {
    excluded: 'excluded: name it to bring it',
    large: 'large: name it to bring it',
    many: 'data: name it to bring it',
  }
  return table(
    [
      ...files.map((one) => ({
        path: one.path,
        there: one.there,
        here: one.here,
        size: one.size === null ? undefined : sizeText(one.size),
        what: WHAT[one.what],
      })),
      ...skipped.map((one) => ({
        path: one.path,
        there: 'new',
        here: undefined,
        size: one.size === undefined ? one.files && count(one.files, 'file') : sizeText(one.size),
        what: why[one.why],
      })),
    ] as Record<string, string | undefined>[],
    ['path', 'there', 'here', {key: 'size', align: 'right'}, 'what'],
  )
}
