import {setTimeout as pause} from 'node:timers/promises'
import {silentReporter, type Context} from '../../lib/base/index.ts'
import {readOverview, type Overview} from '../../lib/overview/index.ts'
import {repeatLooks} from '../base/repeat.ts'
import type {Session} from '../base/session.ts'
import {SOON, watchScene, type Scene} from './live.ts'
import {rackView} from './rack-view.ts'
import type {TopView} from './screen.ts'
import type {TopState} from './state.ts'

/** Runs that are looked for at each look: all that go on, and the newest others. */
const MOST_RUNS = 50

/** Looks again and again, and does what keys say, until q or Ctrl-C. Errors: those of the first look. */
export async function watchRack(session: Session, start: TopState, context: Context): Promise<void> {
  const scene: Scene<Overview> = {
    look: (own) => readOverview(session, MOST_RUNS, own),
    view: (now, before, state) => rackView(now, before, state, Date.now()),
    act: async (action, terminal, own) => {
      const {carryOut} = await import('./actions.ts')
      return carryOut(action, {session, terminal, context: own})
    },
  }
  await watchScene(scene, start, context)
}

/** Two looks at the rack, so far apart that it is known how busy processors are. */
export async function lookTwice(
  session: Session,
  state: TopState,
  context: Context,
): Promise<{now: Overview; view: TopView}> {
  const before = await readOverview(session, MOST_RUNS, context)
  await pause(SOON, undefined, {signal: context.signal}).catch(() => {})
  const now = await readOverview(session, MOST_RUNS, {...context, reporter: silentReporter})
  return {now, view: rackView(now, before, state, Date.now())}
}

/** Tells every look until Ctrl-C. */
export async function followRack(
  session: Session,
  interval: number,
  context: Context,
  tell: (overview: Overview) => void,
): Promise<void> {
  const quiet = {...context, reporter: silentReporter}
  const look = (): Promise<Overview> => readOverview(session, MOST_RUNS, quiet)
  await repeatLooks({seconds: interval, look, tell}, context).catch((error: unknown) => {
    if (!context.signal.aborted) throw error
  })
}
