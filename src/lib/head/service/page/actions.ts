import type {HeadAction} from '../../../protocol/index.ts'
import {namedAction} from '../audit/former.ts'
import {Failure} from '../failure.ts'
import type {Question} from './ask.ts'
import type {Site} from './views.ts'

/** What a browser may have done: what it is asked before, and what it comes to. */
export interface Action {
  kind: HeadAction['action']
  target: string
  question: Question
  /** The command that does the same. */
  command: string
  /** One word or sentence. Errors: those of the `head ui` that does it. */
  carryOut(): Promise<string>
}

/** The action that is meant by a path of the page; undefined where there is none. */
export function readAction([kind, ...path]: readonly string[], {hands, login}: Site): Action | undefined {
  const [first = '', second = '', third] = path
  if (kind === 'runs' && second === 'stop' && third === undefined)
    return {
      kind: 'stop',
      target: first,
      question: {
        title: `Stop ${first}?`,
        text: 'Its ranks are told to end, and are killed where they do not. What they wrote stays.',
        verb: 'Stop the run',
        path: ['runs', first, 'stop'],
        back: ['runs', first],
      },
      command: `flexrack runs stop ${first}`,
      carryOut: async () => (await hands.ask(login, 'stop', {run: first})).status,
    }
  if (kind === 'endpoints' && second === 'rollback' && third === undefined)
    return {
      kind: 'rollback',
      target: first,
      question: {
        title: `Roll back ${first}?`,
        text: 'The release that served before is started again; once it is ready, requests go there.',
        verb: 'Roll back',
        path: ['endpoints', first, 'rollback'],
        back: ['endpoints', first],
      },
      command: `flexrack endpoint rollback ${first}`,
      carryOut: async () => `serves ${(await hands.ask(login, 'rollback', {endpoint: first})).release}`,
    }
  if (kind === 'notebooks' && third === 'end' && path.length === 3)
    return {
      kind: 'endNotebook',
      target: `${second} on ${first}`,
      question: {
        title: `End the notebook of ${second} on ${first}?`,
        text: 'Its server and every kernel end, whatever they are doing. The files stay.',
        verb: 'End the notebook',
        path: ['notebooks', first, second, 'end'],
        back: ['notebooks'],
      },
      command: `flexrack notebook stop ${second} --on ${first}`,
      carryOut: async () => {
        await hands.ask(login, 'endNotebook', {name: second, node: first})
        return 'ended'
      },
    }
  return undefined
}

/** Does it, as whoever opened the page, and writes down who, what, and what came of it. Errors: 403, those of the action. */
export async function carryOut({kind, target, carryOut: work}: Action, site: Site): Promise<void> {
  if (!site.may) throw new Failure(403, 'REFUSED', 'this login only looks at the page')
  const {owner, login} = site
  const done = {at: Date.now(), who: 'page', says: owner, login, action: namedAction(kind), target}
  const {audit} = site.parts
  try {
    await audit.note({...done, outcome: await work()})
  } catch (error) {
    await audit.note({...done, error: (error as Error).message})
    throw error
  }
}
