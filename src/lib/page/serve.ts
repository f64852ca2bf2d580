import {createHash} from 'node:crypto'
import {setTimeout as pause} from 'node:timers/promises'
import {isCliError, ownerName, silentReporter, type Context} from '../base/index.ts'
import type {HeadConnection, PageHand, PageQuestion} from '../head/index.ts'
import {Answers, type PagePlace} from './answers.ts'

/** The head answers after so long, also where nothing is asked. Seconds. */
const WAIT = 20
const PAUSE_MS = [250, 1000, 2000, 4000]

/**
 * Answers what the rack's page asks, for as long as `signal` is not aborted: what nodes are and do, and what is to be done
 * there. A head that does not answer is asked again: it may be starting anew. `login`: that of the browser. Errors:
 * REFUSED where the head does not know the page (it is of an older version).
 */
export async function servePage(
  {
    place,
    head,
    login,
    mlflow,
    enters,
  }: {
    place: PagePlace
    head: Pick<HeadConnection, 'request'>
    login: string
    mlflow: string
    /** Each rack that is open, with what makes a link to its page. */
    enters: ReadonlyMap<string, () => Promise<string>>
  },
  signal: AbortSignal,
  context: Context,
): Promise<void> {
  const own = {...context, signal, reporter: silentReporter}
  const answers = new Answers(place, enters, own)
  const who: PageHand = {
    rack: place.rack.name,
    racks: [...enters.keys()],
    view: viewOf(place),
    owner: ownerName(context),
    mlflow,
  }
  const path = `/flexrack/v1/logins/${login}`
  let failures = 0
  while (!signal.aborted) {
    try {
      const {questions} = await head.request<{questions: PageQuestion[]}>('POST', `${path}/questions`, {
        ...who,
        wait: WAIT,
      })
      failures = 0
      for (const question of questions) {
        const answer = answers.to(question).then(
          (value) => ({value}),
          (error: Error) => ({error: {code: isCliError(error) ? error.code : 'BUG', message: error.message}}),
        )
        void answer
          .then((found) => head.request('POST', `${path}/answers`, {id: question.id, ...found}))
          .catch(() => {}) // the head has forgotten the question when it is there again
      }
    } catch (error) {
      if (isCliError(error, 'NOT_FOUND') || isCliError(error, 'REFUSED')) throw error
      await pause(PAUSE_MS[Math.min(failures++, PAUSE_MS.length - 1)], undefined, {signal}).catch(() => {})
    }
  }
}

/** What two share who reach the same nodes by the same names and accounts. */
function viewOf({rack}: PagePlace): string {
  const nodes = rack.nodes.map(({name, host, user, port, root}) => [name, host, user, port, root])
  return createHash('sha256')
    .update(JSON.stringify([rack.name, nodes]))
    .digest('base64url')
    .slice(0, 16)
}
