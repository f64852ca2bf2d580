import {readBody} from '../limits/body.ts'
import {Failure} from '../failure.ts'
import type {Incoming} from '../limits/incoming.ts'
import type {Limits} from '../limits/limits.ts'
import {takesAdmin} from '../people/person.ts'
import {address, html, type Html} from './html.ts'
import type {Site} from './views.ts'

/** A request that somebody tries out, typed by hand. Bytes of the form, characters of it. */
const LARGEST_FORM = 192 * 1024
const LONGEST_TEXT = 64 * 1024
/** What the footer's command still shows of it. */
const LONGEST_COMMAND = 200

/** A request that was tried, and what came of it. */
export interface Tried {
  text: string
  answer?: {text: string; milliseconds: number}
  error?: string
}

/** The endpoint that a path of the page would try; undefined where it is none. */
export function triedEndpoint(path: readonly string[]): string | undefined {
  return path.length === 3 && path[0] === 'endpoints' && path[2] === 'try' ? path[1] : undefined
}

/** The text of a form that was sent. Errors: 413, 400. */
export async function readTried(request: Incoming, limits: Limits): Promise<string> {
  const text = new URLSearchParams((await readBody(request, LARGEST_FORM, limits)).toString()).get('data') ?? ''
  if (text.length > LONGEST_TEXT)
    throw new Failure(413, 'USAGE', `a request that is tried has at most ${LONGEST_TEXT} characters`)
  if (text.trim() === '') throw new Failure(400, 'USAGE', 'there is nothing to send')
  return text
}

/**
 * Sends one request as `endpoint invoke` would, by the `head ui` of this browser; one at a time. Errors: 403, 404, 429; those
 * of the request are part of what comes back.
 */
export async function tryOut(endpoint: string, text: string, site: Site): Promise<Tried> {
  const {may, user, parts, hands, login, trying} = site
  if (user) throw takesAdmin('a request from the page', user.name)
  if (!may) throw new Failure(403, 'REFUSED', 'this login only looks at the page')
  if (!parts.endpoints.find(endpoint)) throw new Failure(404, 'NOT_FOUND', `there is no endpoint ${endpoint}`)
  if (trying.has(login)) throw new Failure(429, 'BUSY', 'the request before is still being answered')
  trying.add(login)
  try {
    return {text, answer: await hands.ask(login, 'invoke', {endpoint, text})}
  } catch (error) {
    return {text, error: (error as Error).message}
  } finally {
    trying.delete(login)
  }
}

const EXAMPLES: Readonly<Record<string, string>> = {
  v2: '[[5.1, 3.5, 1.4, 0.2]]',
  openai: 'Who are you?',
  mlflow: '{"inputs": [[5.1, 3.5, 1.4, 0.2]]}',
}

/** Where one request can be sent, and what came of the last one. Pure. */
export function trySection(endpoint: string, protocol: string, tried: Tried | undefined): Html {
  return html`<section aria-labelledby="try-title">
    <h2 id="try-title">Try it</h2>
    <form class="card try" method="post" action="${address(['endpoints', endpoint, 'try'])}#try-title">
      <label for="try-data"
        >${protocol === 'openai' ? 'what a user says, or a request of its API' : 'lists of numbers, or a request'}</label
      >
      <textarea
        id="try-data"
        name="data"
        rows="4"
        maxlength="${LONGEST_TEXT}"
        spellcheck="false"
        required
        placeholder="${EXAMPLES[protocol] ?? EXAMPLES.v2}"
      >
${tried && `\n${tried.text}`}</textarea>
      <span class="act"
        ><button>Send</button>${tried?.answer && html`<small>answered in ${tried.answer.milliseconds} ms</small>`}</span
      >
      ${tried?.error !== undefined && html`<p class="warn cause" role="alert">${tried.error}</p>`}
      ${tried?.answer && html`<pre class="answer" tabindex="0" aria-label="answer">${tried.answer.text}</pre>`}
    </form>
  </section>`
}

/** The command that sends the same. Pure. */
export function invokeCommand(endpoint: string, {text}: Tried): string {
  const isShort = text.length <= LONGEST_COMMAND && !/[\r\n]/.test(text)
  return isShort
    ? `flexrack endpoint invoke ${endpoint} --data '${text.replaceAll("'", String.raw`'\''`)}'`
    : `flexrack endpoint invoke ${endpoint} --input FILE`
}
