import {count} from '../../../base/index.ts'
import type {LinesAt, MergedWish, PageAsks, PageLines, PageRunDetail} from '../../types.ts'
import {address, escape, html, Html} from './html.ts'
import {option} from './layout.ts'
import {logLines} from './log-lines.ts'
import {size} from './words.ts'

/** Which part of which log, as the address says. */
export interface LogChoice {
  /** One rank, several, or `all`; null: whichever is first. */
  rank: number | number[] | 'all' | null
  attempt: number | null
  at: LinesAt | {before: number}
  search: string
  /** Only lines with that text are shown. */
  only: boolean
}

const MOST_RANKS = 4096

export function readChoice(query: URLSearchParams): LogChoice {
  const number = (name: string): number | null => {
    const text = query.get(name) ?? ''
    return /^\d{1,15}$/.test(text) ? Number(text) : null
  }
  const search = (query.get('search') ?? '').slice(0, 200)
  const only = search !== '' && query.get('only') === '1'
  const at = query.get('at')
  const [from, before] = [number('from'), number('before')]
  const place: LogChoice['at'] =
    search !== '' && !only
      ? {search, after: number('after') ?? 0}
      : at === 'error'
        ? {error: true}
        : from !== null
          ? {from}
          : before !== null
            ? {before}
            : {end: true}
  return {rank: readRanks(query.get('rank') ?? ''), attempt: number('attempt'), at: place, search, only}
}

/** `all`, or `0,2-5`. */
function readRanks(text: string): LogChoice['rank'] {
  if (text === 'all') return 'all'
  if (!/^\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?){0,100}$/.test(text)) return null
  const ranks = text.split(',').flatMap((part) => {
    const [from = 0, to = from] = part.split('-').map(Number)
    return Array.from({length: Math.min(MOST_RANKS, Math.max(0, to - from + 1))}, (_, index) => from + index)
  })
  return ranks.length === 1 ? ranks[0]! : ranks.slice(0, MOST_RANKS)
}

/** What is asked for it: the log of one rank, or of several as one. */
export function wishOf(run: string, {rank, attempt, at, search, only}: LogChoice): MergedWish | OneWish {
  if (!only && (rank === null || typeof rank === 'number') && !('before' in at)) return {run, rank, attempt, at}
  const ranks = typeof rank === 'number' ? [rank] : rank === 'all' ? null : rank
  return {run, attempt, ranks, only: only ? search : null, at}
}

type OneWish = PageAsks['lines']['input']

/** The log's part of the page of a run. Pure. */
export function logSection(
  run: PageRunDetail,
  choice: LogChoice,
  lines: PageLines | undefined,
  error: string | undefined,
): Html {
  const {rank, attempt, search, only} = choice
  const shown = rankText(rank, lines)
  const isMerged = lines?.rank === null
  const to = (more: Record<string, string | undefined>): string =>
    `${address(['runs', run.run], {
      rank: shown,
      attempt: attempt === null ? undefined : String(attempt),
      ...(only && {search, only: '1'}),
      ...more,
    })}#log-title`
  const ranks = run.worldSize === null ? (lines?.ranks ?? []) : Array.from({length: run.worldSize}, (_, index) => index)
  const several = ranks.length > 1
  const choices = [...(several ? ['all'] : []), ...ranks.map(String)]
  if (shown !== undefined && !choices.includes(shown)) choices.unshift(shown)
  const isEnd = lines !== undefined && !lines.open && isWhole(lines)
  const next = search !== '' && !only ? (lines?.found ?? undefined) : undefined
  return html`<section aria-labelledby="log-title">
    <h2 id="log-title">Log</h2>
    <form class="filter" method="get" action="${address(['runs', run.run])}#log-title">
      <label
        >Rank
        <select name="rank">
          ${choices.map((one) => option(one, shown ?? ''))}
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
      <label class="check"
        ><input type="checkbox" name="only" value="1" ${only && html` checked`} /> its lines alone</label
      >
      <button>Show</button>
      <a class="button" href="${to({at: 'error', search: undefined, only: undefined, ...(several && {rank: 'all'})})}"
        >First error</a
      >
      <a class="button" href="${to({from: '0'})}">Beginning</a>
      <a class="button" href="${to({})}">End</a>
      ${next !== undefined && html`<a class="button" href="${to({search, after: String(isMerged ? next : next + 1)})}">Next</a>`}
    </form>
    ${error === undefined ? undefined : html`<p class="warn">${error}</p>`} ${lines && found(choice, lines)}
    ${lines && html`${pre(lines, choice, !isEnd)} ${isMerged ? mergedLegend(lines, to) : legend(lines, to)}`}
  </section>`
}

type Link = (more: Record<string, string | undefined>) => string

function legend(lines: PageLines, to: Link): Html {
  return html`<p class="legend">
    <span>rank ${lines.rank} on ${lines.node}, attempt ${lines.attempt}</span
    ><span>bytes ${lines.from} to ${lines.to} of ${lines.size} (${size(lines.size)})</span
    >${ways(to, lines.from > 0 && {from: Math.max(0, lines.from - 120_000)}, lines.to < lines.size && {from: lines.to})}
  </p>`
}

function mergedLegend(lines: PageLines, to: Link): Html {
  // No time at all, where a node says so: the rest of the page is shown all the same.
  const day = (at: number): string =>
    Number.isNaN(new Date(at).getTime()) ? '?' : new Date(at).toISOString().slice(0, 19).replace('T', ' ')
  const span = lines.from > 0 ? `${day(lines.from)} to ${day(lines.to)} UTC` : `up to ${day(lines.to)} UTC`
  return html`<p class="legend">
    <span
      >${count(lines.ranks.length, 'rank')} on ${lines.node}, attempt ${lines.attempt}; by time, to some seconds</span
    ><span>${span}, ${size(lines.size)} in all</span
    >${ways(to, lines.from > 0 && {before: lines.from}, lines.open && {from: lines.to})}
  </p>`
}

type Place = {from: number} | {before: number}

/** To the parts before and after one. */
function ways(to: Link, earlier: Place | false, later: Place | false): Html {
  const way = (name: string, place: Place): Html =>
    html`<a href="${to('from' in place ? {from: String(place.from)} : {before: String(place.before)})}">${name}</a>`
  return html`${earlier && way('earlier', earlier)}${later && way('later', later)}`
}

function rankText(rank: LogChoice['rank'], lines: PageLines | undefined): string | undefined {
  const one = rank ?? lines?.rank ?? undefined
  return Array.isArray(one) ? one.join(',') : one === undefined ? undefined : String(one)
}

const isWhole = (lines: PageLines): boolean => lines.rank === null || lines.to === lines.size

/** No space but the log's own may stand in it. What a node says is text, also where there should be numbers. */
function pre({rank, to, text}: PageLines, {at, search}: LogChoice, grows: boolean): Html {
  const isAtEnd = 'end' in at
  const marks = `data-to="${escape(String(to))}" data-at="${isAtEnd ? 'end' : 'part'}"${isAtEnd && grows ? ' data-live' : ''}`
  const label = escape(rank === null ? 'log of several ranks' : `log of rank ${rank}`)
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
