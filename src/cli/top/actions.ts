import {setTimeout as pause} from 'node:timers/promises'
import {silentReporter, type Context} from '../../lib/base/index.ts'
import {openRuns, followRun, stopRun} from '../../lib/runs/index.ts'
import type {Session} from '../base/session.ts'
import {gpusOf} from '../gpu/request.ts'
import {linePrinter} from '../runs/follow.ts'
import type {SceneAction} from './live.ts'
import type {FullTerminal} from './terminal.ts'

/** Carries out what a key has asked for, and says in a sentence what came of it. */
export async function carryOut(
  action: SceneAction,
  {session, terminal, context}: {session: Session; terminal: FullTerminal; context: Context},
): Promise<string> {
  const quiet = {...context, reporter: silentReporter}
  if (action.kind === 'logs') return showLogs(action.run, session, terminal, quiet)
  if (action.kind === 'stop') return stop(action.run, session, quiet)
  return release(action.lease, session, quiet)
}

async function stop(id: string, session: Session, context: Context): Promise<string> {
  const runs = openRuns(session, context)
  try {
    const {run, status} = await stopRun(runs.place, await runs.find(id), {grace: undefined, kill: false}, context)
    return `run ${run}: ${status}`
  } finally {
    await runs.close()
  }
}

async function release(id: string, session: Session, context: Context): Promise<string> {
  const gpus = await gpusOf(session, context)
  const ended = await gpus.release(await gpus.find([id]))
  return ended.map(({lease, owner}) => `lease ${lease.slice(0, 8)} of ${owner} has ended`).join(', ')
}

/** The newest attempt's lines on the normal screen, where they can be scrolled back to, until a key. */
async function showLogs(id: string, session: Session, terminal: FullTerminal, context: Context): Promise<string> {
  const leave = new AbortController()
  const signal = AbortSignal.any([leave.signal, context.signal])
  const runs = openRuns(session, context)
  try {
    await terminal.aside(
      (key) => {
        if (key.name === 'q' || key.name === 'escape' || (key.ctrl && key.name === 'c')) leave.abort()
      },
      async () => {
        process.stdout.write(`logs of run ${id}; q goes back\n`)
        const run = await runs.find(id)
        await followRun(
          runs.place,
          run,
          {follow: true, newest: true, signal, onLines: linePrinter(false)},
          {...context, signal},
        )
        process.stdout.write(`run ${id} is over; q goes back\n`)
        await pause(2 ** 30, undefined, {signal})
      },
    )
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await runs.close()
  }
  return ''
}
