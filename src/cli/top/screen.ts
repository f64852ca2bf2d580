import {paint} from '../terminal/print.ts'
import {oneLine} from '../terminal/printable.ts'
import {clip, table} from '../terminal/render.ts'
import type {Pane} from './panes.ts'
import {activePane, cursorOf, hasRuns, shownRows, sortOf, type TopState} from './state.ts'

export interface TopView {
  /** The line above all: what is looked at, and in figures what it does. */
  title: string
  facts: string[]
  /** What could not be asked. */
  notes: string[]
  panes: Pane[]
  state: TopState
  /** Milliseconds since 1970: when it was looked. */
  at: number
}

const HELP = [
  'Tab, arrows   the next pane; up and down in it (also j, k; PgUp, PgDn, g, G)',
  '/             show only lines with a text; Esc shows all again',
  's, r          sort by the next column (P processors, M memory, T time); the other way round',
  'p, space      pause',
  '+, -          look less often, more often',
  'q, Ctrl-C     leave; nothing that runs is touched (F1, F3, F6, F9, F10 as in htop)',
]
const HELP_OF_RUNS = [
  'Enter, l      logs of the run; of a node: only what is on it',
  'x             stop the run, or end the lease; asks first',
]

/** Every pane whole, for a pipe and for one look. Pure. */
export function wholeText(view: TopView, width: number): string {
  const shown = view.panes.filter((pane) => pane.rows.length > 0)
  return [headLine(view), ...shown.flatMap((pane) => ['', ...paneLines(pane, view.state, width, Infinity, false)])]
    .concat(noteLines(view))
    .map((line) => clip(line, width))
    .join('\n')
}

/** Exactly `height` lines at most `width` wide: head, the panes as far as there is room, and a line of keys. Pure. */
export function screenLines(view: TopView, {width, height}: {width: number; height: number}, clock: number): string[] {
  const {state} = view
  const last = [...noteLines(view).slice(0, 2), footLine(view, clock)]
  const room = Math.max(0, height - 1 - last.length)
  const help = [...HELP, ...(hasRuns(view.panes) ? HELP_OF_RUNS : [])]
  const body =
    state.mode === 'help'
      ? ['', paint.bold('Keys'), ...help.map((line) => `  ${line}`), '', 'Any key goes back.'].slice(0, room)
      : bodyLines(view, width, room)
  const blank = Array.from({length: Math.max(0, room - body.length)}, () => '')
  return [headLine(view), ...body, ...blank, ...last].slice(-height).map((line) => clip(line, width))
}

function headLine({title, facts, at}: TopView): string {
  return [paint.bold(title), new Date(at).toTimeString().slice(0, 8), ...facts].join('  ')
}

function noteLines({notes}: TopView): string[] {
  return notes.map(oneLine)
}

function footLine({state, at, panes}: TopView, clock: number): string {
  if (state.mode === 'asking') return paint.bold(`${state.question?.text} y/n `)
  if (state.mode === 'typing') return `${paint.bold('/')}${state.filter}█`
  const late = clock - at > Math.max(5000, state.interval * 3000)
  const parts = [
    state.message,
    state.paused ? paint.yellow('paused') : late ? paint.yellow(`${Math.round((clock - at) / 1000)} s old`) : '',
    state.filter === '' ? '' : paint.cyan(`only "${state.filter}"`),
    paint.dim(
      `? help  q quit  Tab pane  / filter  s sort${hasRuns(panes) ? '  l logs  x stop' : ''}   every ${state.interval} s`,
    ),
  ]
  return parts.filter((part) => part !== '').join('   ')
}

/** The pane with the cursor gets up to half of the lines, the others what is left, the first ones first. */
function bodyLines({panes, state}: TopView, width: number, room: number): string[] {
  const shown = panes.filter((pane) => pane.rows.length > 0)
  // A blank line, the title, the headings, and its lines.
  const wants = shown.map((pane) => 3 + shownRows(pane, state).length)
  const given = shown.map(() => 0)
  const active = activePane(panes, state)?.name
  const own = shown.findIndex((pane) => pane.name === active)
  let left = room
  const give = (at: number, lines: number): void => {
    const taken = Math.max(0, Math.min(left, lines, (wants[at] ?? 0) - (given[at] ?? 0)))
    given[at] = (given[at] ?? 0) + taken
    left -= taken
  }
  if (own !== -1) give(own, Math.max(4, Math.ceil(room / 2)))
  shown.forEach((_, at) => give(at, Math.max(4, Math.floor(left / Math.max(1, shown.length - at)))))
  shown.forEach((_, at) => give(at, left))
  return shown.flatMap((pane, at) => {
    const lines = given[at] ?? 0
    if (lines < 2) return []
    return ['', ...paneLines(pane, state, width, lines - 1, pane.name === active)].slice(0, lines)
  })
}

/** Title, headings, and the lines around the cursor. */
function paneLines(pane: Pane, state: TopState, width: number, most: number, isActive: boolean): string[] {
  const rows = shownRows(pane, state)
  const [headings, ...lines] = table(
    rows.map((row) => row.cells),
    pane.columns,
    width - 2,
  ).split('\n')
  const cursor = cursorOf(rows, pane.name, state)
  const fits = Math.max(0, most - 2)
  const from = isActive ? Math.max(0, Math.min(cursor - Math.floor(fits / 2), lines.length - fits)) : 0
  const seen = lines.slice(from, from + fits)
  const hidden = rows.length - seen.length
  const about = [
    `${rows.length}${rows.length < pane.rows.length ? ` of ${pane.rows.length}` : ''}`,
    `by ${sortOf(pane, state)}${state.reversed ? ', reversed' : ''}`,
    ...(hidden > 0 && most < Infinity ? [`${hidden} more`] : []),
  ]
  const title = `${pane.title ?? pane.name} ${paint.dim(about.join(', '))}`
  return [
    isActive ? paint.bold(title) : title,
    `  ${headings ?? ''}`,
    ...seen.map((line, index) => (isActive && from + index === cursor ? paint.inverse(`> ${line}`) : `  ${line}`)),
  ]
}
