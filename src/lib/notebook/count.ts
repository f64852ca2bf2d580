import {isCliError, type Context} from '../base/index.ts'
import type {HoldWish, QuotaSum} from '../head/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {StepOf} from '../plan/index.ts'
import {sumsText, type QuotaDesk} from '../holding/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {findNotebooks} from './show.ts'

type CountInput = {node: string; project: string; /** Seconds from now; null: no end. */ lasts: number | null}

export type CountKinds = {
  /** It counts for quotas from here on. */
  'notebook.count': {input: CountInput; output: {project: string; name: string}}
}

interface CountEnv {
  host: Host
  place?: {rack: Rack; fleet: Fleet} | undefined
  desk?: QuotaDesk | undefined
  context: Context
}

/** A notebook of this user, as the head knows and counts it. Pure. */
export function notebookWish(node: string, project: string): HoldWish {
  return {kind: 'notebook', name: `${node}/${project}`, project, amount: 1}
}

/** Pure. */
export function quotaStep(input: CountInput, sums: readonly QuotaSum[]): StepOf<CountKinds> {
  const text = sumsText(sums)
  const title = `Have the head count it for quotas${text === '' ? '' : `; ${text}`}`
  return {id: 'quota', node: null, kind: 'notebook.count', title, input, needs: []}
}

/** Errors: QUOTA with the sum. */
export async function count(
  {node, project, lasts}: CountInput,
  _done: unknown,
  {host, place, desk, context}: CountEnv,
): Promise<{project: string; name: string}> {
  const wish = notebookWish(node, project)
  const until = lasts === null ? {} : {until: Date.now() + lasts * 1000}
  const gone = (names: string[]): Promise<string[]> => goneAmong(names, {host, place, context})
  const hint = 'flexrack notebook list\nflexrack quota list'
  await desk?.hold({...wish, ...until}, hint, gone)
  return {project, name: wish.name}
}

/** Those that ended by themselves since: nobody tells the head of that. A node that does not answer may still have its own. */
async function goneAmong(names: readonly string[], {host, place, context}: CountEnv): Promise<string[]> {
  const looked = await Promise.all(
    names.map(async (name) => {
      const [node = '', project = ''] = name.split('/')
      const known = place?.rack.nodes.find((one) => one.name === node)
      try {
        const at = node === host.node ? host : known && place ? await openHost(place.fleet, known, context) : undefined
        if (!at) return []
        const [found] = await findNotebooks(at, project, context)
        return found && (found.state === 'ready' || found.state === 'starting') ? [] : [name]
      } catch (error) {
        if (isCliError(error)) return []
        throw error
      }
    }),
  )
  return looked.flat()
}
