import {stripVTControlCharacters} from 'node:util'
import {PANES, type Pane, type PaneRow} from './panes.ts'

/** What is chosen on the screen: what keys change, and what a new look at the rack leaves as it is. */
export interface TopState {
  pane: string
  /** Id of the line under the cursor, by pane. */
  chosen: Record<string, string>
  /** Column, by pane; absent: the first of its sorts. */
  sort: Record<string, string>
  reversed: boolean
  filter: string
  /** asking: `question` waits for y; typing: the filter is being written. */
  mode: 'list' | 'typing' | 'asking' | 'help'
  question?: {text: string; action: TopAction}
  paused: boolean
  /** Seconds between two looks. */
  interval: number
  /** What the last key or action came to. */
  message: string
}

/** What a key wants done outside the screen. */
export type TopAction =
  | {kind: 'quit'}
  | {kind: 'suspend'}
  | {kind: 'logs'; run: string}
  | {kind: 'stop'; run: string}
  | {kind: 'release'; lease: string}

/** A key as node:readline names it; `text`: what it types. */
export interface Key {
  name: string
  text: string
  ctrl: boolean
}

const INTERVALS = [0.5, 1, 2, 5, 10, 30, 60]
/** Keys of htop and nvitop that mean what others do here. */
const OTHERS: Readonly<Record<string, string>> = {f1: '?', f3: '/', f4: '/', f6: 's', f9: 'x', f10: 'q', I: 'r'}
/** Their letters for what is sorted by; the first of these that a pane has. */
const SORTS: Readonly<Record<string, readonly string[]>> = {
  P: ['cpu', 'busy'],
  M: ['memory', 'used'],
  T: ['time', 'age'],
}
/** Lines that a page key moves by. */
const PAGE = 10

export function startState(
  {sort, filter}: {sort?: string | undefined; filter?: string | undefined},
  interval: number,
  panes: {names: readonly string[]; first: string} = {names: PANES, first: 'runs'},
): TopState {
  return {
    pane: panes.first,
    chosen: {},
    sort: sort === undefined ? {} : Object.fromEntries(panes.names.map((pane) => [pane, sort])),
    reversed: false,
    filter: filter ?? '',
    mode: 'list',
    paused: false,
    interval,
    message: '',
  }
}

/** The lines of a pane as they are shown: those that the filter leaves, sorted. Pure. */
export function shownRows(pane: Pane, state: TopState): PaneRow[] {
  const wanted = state.filter.toLowerCase()
  const rows = pane.rows.filter(
    (row) =>
      wanted === '' ||
      Object.values(row.cells).some((cell) => stripVTControlCharacters(cell).toLowerCase().includes(wanted)),
  )
  const by = sortOf(pane, state)
  const sorted = rows.toSorted((a, b) => compare(a.values[by], b.values[by]))
  return state.reversed ? sorted.reverse() : sorted
}

/** What can be stopped, and has logs, is there only where runs are shown. */
export function hasRuns(panes: readonly Pane[]): boolean {
  return panes.some(({name}) => name === 'runs')
}

/** The pane that keys are for: the chosen one, or where that has no lines the first that has some. */
export function activePane(panes: readonly Pane[], state: TopState): Pane | undefined {
  const chosen = panes.find(({name}) => name === state.pane)
  return chosen && chosen.rows.length > 0 ? chosen : panes.find(({rows}) => rows.length > 0)
}

/** The column that a pane is sorted by. */
export function sortOf(pane: Pane, state: TopState): string {
  const chosen = state.sort[pane.name]
  return chosen !== undefined && pane.sorts.includes(chosen) ? chosen : (pane.sorts[0] ?? '')
}

/** Where the cursor is; -1 in an empty pane. A line that has gone gives its place to the first one. */
export function cursorOf(rows: readonly PaneRow[], pane: string, state: TopState): number {
  const at = rows.findIndex((row) => row.id === state.chosen[pane])
  return at === -1 ? Math.min(0, rows.length - 1) : at
}

/** What a key does. Pure. */
export function pressed(state: TopState, key: Key, panes: readonly Pane[]): {state: TopState; action?: TopAction} {
  if (key.ctrl && key.name === 'c') return {state, action: {kind: 'quit'}}
  if (key.ctrl && key.name === 'z') return {state, action: {kind: 'suspend'}}
  if (state.mode === 'typing') return {state: typed(state, key)}
  if (state.mode === 'asking') {
    const {question, ...left} = state
    const next: TopState = {...left, mode: 'list', message: key.text === 'y' ? '' : 'nothing was changed'}
    return key.text === 'y' && question ? {state: next, action: question.action} : {state: next}
  }
  if (state.mode === 'help') return {state: {...state, mode: 'list'}}
  return inList({...state, pane: activePane(panes, state)?.name ?? state.pane, message: ''}, key, panes)
}

function inList(state: TopState, key: Key, panes: readonly Pane[]): {state: TopState; action?: TopAction} {
  const filled = panes.filter((pane) => pane.rows.length > 0).map(({name}) => name)
  const pane = panes.find((one) => one.name === state.pane)
  const rows = pane ? shownRows(pane, state) : []
  const at = cursorOf(rows, state.pane, state)
  const row = rows[at]
  const go = (to: number): {state: TopState} => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, to))]
    return {state: next ? {...state, chosen: {...state.chosen, [state.pane]: next.id}} : state}
  }
  const turn = (by: number): {state: TopState} => {
    const next = filled[(filled.indexOf(state.pane) + by + filled.length) % Math.max(1, filled.length)]
    return {state: {...state, pane: next ?? state.pane}}
  }
  const word = key.text === '' || key.name === 'space' ? key.name : key.text
  switch (OTHERS[word] ?? word) {
    case 'q':
    case 'escape':
      return state.filter === '' ? {state, action: {kind: 'quit'}} : {state: {...state, filter: ''}}
    case 'up':
    case 'k':
      return go(at - 1)
    case 'down':
    case 'j':
      return go(at + 1)
    case 'pageup':
      return go(at - PAGE)
    case 'pagedown':
      return go(at + PAGE)
    case 'home':
    case 'g':
      return go(0)
    case 'end':
    case 'G':
      return go(rows.length - 1)
    case '\t':
    case 'right':
      return turn(key.name === 'tab' && key.text === '' ? -1 : 1)
    case 'tab':
    case 'left':
      return turn(-1)
    case '/':
      return {state: {...state, mode: 'typing'}}
    case 's': {
      if (!pane) return {state}
      const next = pane.sorts[(pane.sorts.indexOf(sortOf(pane, state)) + 1) % pane.sorts.length]
      return {
        state: {...state, sort: {...state.sort, [pane.name]: next ?? ''}, message: `sorted by ${next}`},
      }
    }
    case 'P':
    case 'M':
    case 'T': {
      const by = SORTS[word]!.find((one) => pane?.sorts.includes(one))
      if (!pane || by === undefined) return {state: {...state, message: `${state.pane} have no column of that kind`}}
      return {state: {...state, sort: {...state.sort, [pane.name]: by}, message: `sorted by ${by}`}}
    }
    case 'r':
      return {state: {...state, reversed: !state.reversed}}
    case 'p':
    case 'space':
      return {state: {...state, paused: !state.paused}}
    case '+':
      return {state: {...state, interval: INTERVALS.find((one) => one > state.interval) ?? state.interval}}
    case '-':
      return {state: {...state, interval: INTERVALS.findLast((one) => one < state.interval) ?? state.interval}}
    case '?':
    case 'h':
      return {state: {...state, mode: 'help'}}
    case 'l':
    case '\r':
      if (!hasRuns(panes)) return {state}
      if (state.pane === 'runs' && row) return {state, action: {kind: 'logs', run: row.id}}
      if (state.pane === 'nodes' && row) return {state: {...state, filter: row.id}}
      return {state: {...state, message: 'logs are those of a run: choose one with Tab and the arrows'}}
    case 'x':
      return hasRuns(panes) ? ask(state, row) : {state}
    default:
      return {state}
  }
}

function ask(state: TopState, row: PaneRow | undefined): {state: TopState} {
  const asking = (text: string, action: TopAction): {state: TopState} => ({
    state: {...state, mode: 'asking', question: {text, action}},
  })
  if (state.pane === 'runs' && row)
    return row.isOpen
      ? asking(`Stop run ${row.id}?`, {kind: 'stop', run: row.id})
      : {state: {...state, message: `run ${row.id} has ended`}}
  if (state.pane === 'leases' && row)
    return asking(`End lease ${row.id.slice(0, 8)} of ${row.cells.owner}? Programs that use it get errors.`, {
      kind: 'release',
      lease: row.id,
    })
  return {state: {...state, message: 'runs can be stopped and leases ended: choose one with Tab and the arrows'}}
}

function typed(state: TopState, key: Key): TopState {
  if (key.name === 'return' || key.name === 'enter') return {...state, mode: 'list'}
  if (key.name === 'escape') return {...state, mode: 'list', filter: ''}
  if (key.name === 'backspace') return {...state, filter: [...state.filter].slice(0, -1).join('')}
  if (key.ctrl && key.name === 'u') return {...state, filter: ''}
  // oxlint-disable-next-line no-control-regex
  return key.ctrl || /[\u0000-\u001f\u007f]/.test(key.text) ? state : {...state, filter: state.filter + key.text}
}

/** Numbers fall, names rise: who uses most is at the top. */
function compare(a: number | string | undefined, b: number | string | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return b - a
  return String(a ?? '').localeCompare(String(b ?? ''), 'en', {numeric: true})
}
