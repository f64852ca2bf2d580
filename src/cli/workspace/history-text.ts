import {count, sizeText} from '../../lib/base/index.ts'
import type {
  CopiedHistory,
  CopyContent,
  Restored,
  RestoredFromCopy,
  WorkspaceDiff,
  WorkspaceHistory,
} from '../../lib/history/index.ts'
import {ago, duration, table} from '../terminal/render.ts'

const WHY = {excluded: 'excluded', program: 'made by programs', large: 'large', many: 'data'} as const
const SHOWN_LEFT = 5

/** Newest first, as people look for the last one. */
export function historyText(found: WorkspaceHistory, path: string | undefined): string {
  const lines = [stateOf(found)]
  if (found.error)
    lines.push(
      `The last save failed: ${found.error.message}${found.error.hint === null ? '' : ` (${found.error.hint})`}`,
    )
  if (found.damage !== null) {
    lines.push(
      `The last check found damage: ${found.damage} ` + '(to begin anew beside it: flexrack workspace history --anew)',
    )
  }
  if (found.unreadable.length > 0)
    lines.push(`Could not be read, and is not saved: ${found.unreadable.slice(0, 5).join(', ')}`)
  if (path === undefined && found.left.length > 0) {
    const shown = found.left
      .slice(0, SHOWN_LEFT)
      .map((one) => `${one.path} (${WHY[one.why]}${one.bytes > 0 ? `, ${sizeText(one.bytes)}` : ''})`)
    lines.push(
      `Not saved: ${shown.join(', ')}${found.left.length > SHOWN_LEFT ? ` and ${found.left.length - SHOWN_LEFT} more` : ''}`,
    )
  }
  const rows =
    path === undefined
      ? found.snapshots.map((one) => ({
          id: one.id.slice(0, 8),
          saved: local(one.at),
          ago: ago(one.at),
          what: kindText(one.kind),
          runs: one.runs.join(', '),
        }))
      : found.versions.map((one) => ({
          id: one.id.slice(0, 8),
          saved: local(one.at),
          ago: ago(one.at),
          what: one.what === 'absent' ? 'gone' : one.what,
          size: one.bytes === null ? undefined : sizeText(one.bytes),
        }))
  const columns =
    path === undefined
      ? ['id', 'saved', 'ago', 'what', 'runs']
      : ['id', 'saved', 'ago', 'what', {key: 'size', align: 'right' as const}]
  return [
    ...lines,
    ...(rows.length > 0 ? ['', table(rows.reverse() as Record<string, string | undefined>[], columns)] : []),
  ].join('\n')
}

function stateOf({node, project, autosave, every, savedAt, lookedAt, files, bytes: size}: WorkspaceHistory): string {
  const what = files === null || size === null ? '' : `, ${count(files, 'file')}, ${sizeText(size)}`
  const last =
    savedAt === null
      ? 'nothing was saved yet'
      : `saved ${ago(savedAt)}` +
        `${lookedAt === null || savedAt === null || lookedAt <= savedAt ? '' : `, unchanged ${ago(lookedAt)}`}${what}`
  if (autosave === 'off') return `${node} does not save ${project} by itself; ${last}.`
  if (autosave === 'ended') {
    return (
      `${node} should save ${project} by itself every ${duration((every ?? 0) * 1000)}, ` +
      `and what does that has ended (flexrack workspace up starts it); ${last}.`
    )
  }
  return `${node} saves ${project} every ${duration((every ?? 0) * 1000)}; ${last}.`
}

const kindText = (kind: string): string =>
  ({run: 'what a run ran', 'before-restore': 'before a restore', asked: 'asked for'})[kind] ?? 'by itself'

/** With the lines where they were asked for. */
export function diffText({changes, snapshot, at, node}: WorkspaceDiff): string {
  if (changes.length === 0) return `Nothing has changed on ${node} since ${snapshot.slice(0, 8)} of ${local(at)}.`
  const shown = changes.map(({lines}) => lines).filter((one): one is string => one !== null && one !== '')
  const rest = changes.filter(({lines}) => lines === null || lines === '')
  return [
    `Since ${snapshot.slice(0, 8)} of ${local(at)}, on ${node}:`,
    ...(rest.length > 0
      ? [
          table(
            rest.map((one) => ({path: one.path, what: one.what, size: sizeText(one.bytes)})),
            ['path', 'what', {key: 'size', align: 'right'}],
          ),
        ]
      : []),
    ...shown.map((one) => one.trimEnd()),
  ].join('\n')
}

export function copiedText({files, bytes: size, there, folder, node}: CopiedHistory): string {
  const came = files === 0 ? 'Nothing is new' : `${count(files, 'file')} (${sizeText(size)}) came`
  const here = there > 0 ? `; ${count(there, 'file')} ${there === 1 ? 'was' : 'were'} here` : ''
  return `${came} from ${node}${here}.\nWhat is in it: flexrack workspace history --from ${folder}`
}

/** Newest first. */
export function contentText({copy, snapshots}: CopyContent): string {
  if (snapshots.length === 0) return `${copy} has no snapshot yet.`
  return table(
    snapshots
      .toReversed()
      .map((one) => ({id: one.id.slice(0, 8), saved: local(one.at), ago: ago(one.at), what: kindText(one.kind)})),
    ['id', 'saved', 'ago', 'what'],
  )
}

export function fromCopyText({files, bytes: size, at, folder}: RestoredFromCopy): string {
  return `${count(files, 'file')} (${sizeText(size)}) of ${local(at)} ${files === 1 ? 'is' : 'are'} in ${folder}`
}

export function restoredText(one: Restored, path: string | undefined): string {
  if (one.folder !== null) {
    return (
      `${count(one.count, 'file')} (${sizeText(one.bytes)}) of ${local(one.at)} ` +
      `${one.count === 1 ? 'is' : 'are'} in ${one.folder}${one.here ? '' : ` on ${one.node}`}`
    )
  }
  if (one.files.length === 0) return 'The workspace is so already.'
  const undo =
    one.before === null
      ? ''
      : `\nTo undo it: flexrack workspace restore --at ${one.before.slice(0, 8)} --in-place --remove` +
        (path === undefined ? '' : ` ${path}`)
  return `${restoredFilesText(one.files)}\n\n${count(one.files.length, 'file')} changed back to ${local(one.at)} on ${one.node}.${undo}`
}

export function restoredFilesText(files: Restored['files']): string {
  return table(
    files.map((one) => ({path: one.path, what: one.what, size: sizeText(one.bytes)})),
    ['path', 'what', {key: 'size', align: 'right'}],
  )
}

/** Of this machine's clock, as --at takes it. */
function local(iso: string): string {
  const date = new Date(iso)
  const two = (number: number): string => String(number).padStart(2, '0')
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  )
}
