import type {LinesAt, PageLines, PageRunDetail} from '../../types.ts'
import {address, escape, html, Html} from './html.ts'
import {option} from './layout.ts'
import {logLines} from './log-lines.ts'
import {size} from './words.ts'

/** Which part of which log, as the address says. */
export interface LogChoice {
  rank: number | null
  attempt: number | null
  at: LinesAt
  search: string
}

export function readChoice(query: URLSearchParams): LogChoice {
  const number = (name: string): number | null => {
    const text = query.get(name) ?? ''
    return /^\d{1,15}$/.test(text) ? Number(text) : null
  }
  const search = (query.get('search') ?? '').slice(0, 200)
  const at = query.get('at')
  const from = number('from')
  const place: LinesAt =
    search !== ''
      ? {search, after: number('after') ?? 0}
      : at === 'error'
        ? {error: true}
        : from !== null
          ? {from}
          : {end: true}
  return {rank: number('rank'), attempt: number('attempt'), at: place, search}
}

/** The log's part of the page of a run. Pure. */
export function logSection(
  run: PageRunDetail,
  choice: LogChoice,
  lines: PageLines | undefined,
  error: string | undefined,
): Html {
  const {rank, attempt, search} = choice
  const to = (more: Record<string, string | undefined>): string =>
    `${address(['runs', run.run], {
      rank: String(rank ?? lines?.rank ?? ''),
      attempt: attempt === null ? undefined : String(attempt),
      ...more,
    })}#log-title`
  const ranks = run.worldSize === null ? (lines?.ranks ?? []) : Array.from({length: run.worldSize}, (_, index) => index)
  const isEnd = lines !== undefined && !lines.open && lines.to === lines.size
  return html`<section aria-labelledby="log-title">
    <h2 id="log-title">Log</h2>
    <form class="filter" method="get" action="${address(['runs', run.run])}#log-title">
      <label
        >Rank
        <select name="rank">
          ${ranks.map((one) => option(String(one), String(rank ?? lines?.rank ?? 0)))}
        </select></label
      >
      ${
        lines && lines.attempts.length > 1
          ? html`<label
              >Attempt
              <select name="attempt">
                ${lines.attempts.map((one) => option(String(one), String(lines.attempt)))}
              </select></label
            >`
          : undefined
      }
      <label
        >Search <input type="search" name="search" value="${search}" placeholder="text in the log" data-key="/"
      /></label>
      <button>Show</button>
      <a class="button" href="${to({at: 'error'})}">First error</a>
      <a class="button" href="${to({from: '0'})}">Beginning</a>
      <a class="button" href="${to({})}">End</a>
      ${search !== '' && lines?.found !== undefined && lines.found !== null ? html`<a class="button" href="${to({search, after: String(lines.found + 1)})}">Next</a>` : undefined}
    </form>
    ${error === undefined ? undefined : html`<p class="warn">${error}</p>`} ${lines && found(choice, lines)}
    ${
      lines &&
      html`${pre(lines, choice, !isEnd)}
        <p class="legend">
          <span>rank ${lines.rank} on ${lines.node}, attempt ${lines.attempt}</span
          ><span>bytes ${lines.from} to ${lines.to} of ${lines.size} (${size(lines.size)})</span
          >${lines.from > 0 && html`<a href="${to({from: String(Math.max(0, lines.from - 120_000))})}">earlier</a>`}${lines.to < lines.size && html`<a href="${to({from: String(lines.to)})}">later</a>`}
        </p>`
    }
  </section>`
}

/** No space but the log's own may stand in it. What a node says is text, also where there should be numbers. */
function pre({rank, to, text}: PageLines, {at, search}: LogChoice, grows: boolean): Html {
  const isAtEnd = 'end' in at
  const marks = `data-to="${escape(String(to))}" data-at="${isAtEnd ? 'end' : 'part'}"${isAtEnd && grows ? ' data-live' : ''}`
  const label = escape(`log of rank ${rank}`)
  return new Html(
    `<pre class="log" id="log" tabindex="0" role="log" aria-label="${label}" ${marks}>${logLines(text, search).text}</pre>`,
  )
}

function found({at, search}: LogChoice, lines: PageLines): Html | undefined {
  if (lines.found !== null && lines.found !== undefined) return undefined
  if ('error' in at) return html`<p class="legend">No line of it tells of an error; this is its end.</p>`
  return 'search' in at
    ? html`<p class="legend">“${search}” is not in it${at.after > 0 ? ' any more' : ''}; this is its end.</p>`
    : undefined
}
