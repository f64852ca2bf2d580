import {setTimeout as pause} from 'node:timers/promises'
import type {Context} from '../../lib/base/index.ts'
import type {LoadReport} from '../../lib/endpoint/index.ts'
import {paint} from '../terminal/print.ts'
import {watchScene, type Scene} from './live.ts'
import {wholeText, type TopView} from './screen.ts'
import {startState, type TopState} from './state.ts'
import {LOAD_PANES, loadPanes} from './load-panes.ts'

type Look = () => Promise<LoadReport>
type Flags = {sort?: string | undefined; filter?: string | undefined}

/** A full screen until q or Ctrl-C. */
export async function watchLoad(look: Look, flags: Flags, interval: number, context: Context): Promise<void> {
  const scene: Scene<LoadReport> = {
    look,
    view: (now, before, state) => loadView(now, state, Date.now(), before === undefined),
  }
  await watchScene(scene, stateOf(flags, interval), context)
}

/** What was done in so many seconds from now on. Errors: INTERRUPTED. */
export async function loadOver(look: Look, seconds: number, {signal}: Context): Promise<LoadReport> {
  await look()
  await pause(seconds * 1000, undefined, {signal}).catch(() => {})
  return look()
}

/** All of it, for a pipe and for one look. Pure. */
export function loadText(report: LoadReport, flags: Flags, interval: number, width: number): string {
  if (report.endpoints.length === 0) return 'No endpoints yet. Deploy a model: flexrack endpoint deploy NAME'
  return wholeText(loadView(report, stateOf(flags, interval), Date.now()), width)
}

function stateOf(flags: Flags, interval: number): TopState {
  return startState(flags, interval, {names: LOAD_PANES, first: 'endpoints'})
}

/** Pure. `isFirst`: there is no look before it. */
export function loadView(now: LoadReport, state: TopState, at: number, isFirst = false): TopView {
  const over = isFirst ? `${Math.round(now.seconds)} s, since the head was started` : `${now.seconds.toFixed(1)} s`
  return {
    title: `endpoints of rack ${now.rack}`,
    facts: [`over ${over}`],
    notes: now.unknown.map(({node, message}) => paint.yellow(`GPUs of ${node} not known: ${message}`)),
    panes: loadPanes(now),
    state,
    at,
  }
}
