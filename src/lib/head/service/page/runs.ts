import type {PageRun} from '../../types.ts'
import {short} from './draw.ts'
import {address, html, slug, type Content, type Html} from './html.ts'
import {option, tableOr, warning} from './layout.ts'
import type {Parts} from './live.ts'
import {ago, isOpen, isSystem, metricNames, state, tookOf} from './words.ts'

/** Where several have started runs, who is told, too. */
export function runHead(runs: readonly PageRun[]): string[] {
  const who = ofSeveral(runs) ? ['user'] : []
  return ['run', ...who, 'state', 'took', 'ranks', 'nodes', 'values', 'started']
}

/** Which runs are shown, as the address says. */
export interface RunFilter {
  state: string
  project: string
  user: string
  text: string
  /** Name of a metric that they are sorted by; newest first otherwise. */
  sort: string
  /** `low`: the lowest first, as of a loss. */
  order: string
}

export interface RunList {
  runs: PageRun[]
  away: string | null
  unasked: string[]
}

export function readFilter(query: URLSearchParams): RunFilter {
  const word = (name: string): string => (query.get(name) ?? '').slice(0, 200)
  return {
    state: word('state'),
    project: word('project'),
    user: word('user'),
    text: word('text'),
    sort: word('sort'),
    order: word('order'),
  }
}

/** Those that the filter leaves, in its order. Pure. */
export function filterRuns(
  runs: readonly PageRun[],
  {state: wanted, project, user, text, sort, order}: RunFilter,
): PageRun[] {
  const found = runs.filter(
    (one) =>
      (wanted === '' || (wanted === 'open' ? isOpen(one) : one.status === wanted)) &&
      (project === '' || one.project === project) &&
      (user === '' || one.user === user) &&
      (text === '' ||
        [one.run, one.project ?? '', one.user ?? '', one.sweep ?? '', one.cause ?? '', ...one.nodes].some((word) =>
          word.toLowerCase().includes(text.toLowerCase()),
        )),
  )
  if (sort === '') return found
  const sign = order === 'low' ? 1 : -1
  // Who has no such value comes last either way.
  const value = (one: PageRun): number => {
    const own = one.metrics[sort]
    return own === undefined || Number.isNaN(own) ? Number.MAX_VALUE : own * sign
  }
  return found.toSorted((a, b) => value(a) - value(b))
}

/** The parts of the page of runs that change, by the ids of their elements. Pure. */
export function runsParts(list: RunList | undefined, error: string | undefined, filter: RunFilter, now: number): Parts {
  const runs = list?.runs ?? []
  const shown = filterRuns(runs, filter)
  const rows = runRows(shown, now, {canMark: true, told: runs})
  const away = list && list.away !== null && html`<p class="warn">${list.away}</p>`
  const notice = html`<div id="notice">
    ${warning(error)} ${away} ${list && list.unasked.length > 0 && silent(list.unasked)}
  </div>`
  const ids = shown.map((one) => rowId(one))
  return {notice, runs: ids, ...Object.fromEntries(ids.map((id, index) => [id, rows[index]!]))}
}

/** The body of the page of runs. Pure. */
export function runsBody(list: RunList | undefined, error: string | undefined, filter: RunFilter, now: number): Html {
  const runs = list?.runs ?? []
  const parts = runsParts(list, error, filter, now)
  const rows = (parts.runs as readonly string[]).map((id) => parts[id])
  const projects = [...new Set(runs.flatMap((one) => one.project ?? []))].sort()
  const users = [...new Set(runs.flatMap((one) => one.user ?? []))].sort()
  const states = [...new Set(runs.map((one) => one.status))].sort()
  const none = runs.length === 0 ? html`There are no runs yet: <code>flexrack train</code>` : 'No run is like that.'
  return html`<h1>Runs</h1>
    ${parts.notice}
    <form class="filter" method="get" action="${address(['runs'])}">
      <label
        >Search
        <input type="search" name="text" value="${filter.text}" placeholder="run, user, node, cause" data-key="/"
      /></label>
      <label
        >State
        ${select('state', filter.state, [['', 'all'], ['open', 'going on'], ...states.map((one): [string, string] => [one, one])])}</label
      >
      <label
        >Project
        ${select('project', filter.project, [['', 'all'], ...projects.map((one): [string, string] => [one, one])])}</label
      >
      ${
        (users.length > 1 || filter.user !== '') &&
        html`<label
          >User
          ${select('user', filter.user, [['', 'all'], ...users.map((one): [string, string] => [one, one])])}</label
        >`
      }
      <label
        >Sort by
        ${select('sort', filter.sort, [['', 'newest'], ...metricNames(runs).map((one): [string, string] => [one, one])])}</label
      >
      <label
        >Order
        ${select('order', filter.order, [
          ['', 'highest first'],
          ['low', 'lowest first'],
        ])}</label
      >
      <button>Show</button>
    </form>
    <form method="get" action="${address(['compare'])}">
      ${tableOr(none, [html`<span class="unseen">compare</span>`, ...runHead(runs)], rows, 'runs', 'runs')}
      ${rows.length > 1 ? html`<p class="act marked"><button>Compare those marked</button> <small>two to eight</small></p>` : undefined}
    </form>`
}

function silent(nodes: readonly string[]): Html {
  return html`<p class="warn">${nodes.join(', ')} did not answer: runs that only they know are missing.</p>`
}

function select(name: string, chosen: string, options: readonly (readonly [string, string])[]): Html {
  const all = options.some(([value]) => value === chosen) ? options : [...options, [chosen, chosen] as const]
  return html`<select name="${name}">
    ${all.map(([value, text]) => option(value, chosen, text))}
  </select>`
}

/** `told`: all that are told of, of which these are some. */
export function runRows(
  runs: readonly PageRun[],
  now: number,
  {canMark = false, told = runs}: {canMark?: boolean; told?: readonly PageRun[]} = {},
): Html[] {
  const who = ofSeveral(told)
  return runs.map((one) => {
    const again = one.attempt !== null && one.attempt > 1 && html`<small>attempt ${one.attempt}</small>`
    const cause = one.cause !== null && html`<small class="cause" title="${one.cause}">${one.cause}</small>`
    const mark =
      canMark &&
      html`<td>
        ${one.tracked !== null && html`<input type="checkbox" name="run" value="${one.run}" aria-label="compare ${one.run}" />`}
      </td>`
    return html`<tr id="${rowId(one)}">
      ${mark}
      <td data-name="run">
        <a href="${address(['runs', one.run])}">${one.run}</a
        >${one.project === null || one.run.startsWith(one.project) ? undefined : html`<small>${one.project}</small>`}
      </td>
      ${who && html`<td data-name="user">${one.user}</td>`}
      <td data-name="state">${state(one.status)}${again}${cause}</td>
      <td data-name="took" class="number">${tookOf(one, now)}</td>
      <td data-name="ranks" class="number">${one.worldSize}</td>
      <td data-name="nodes">
        ${one.nodes.length > 3 ? `${one.nodes.slice(0, 2).join(', ')} and ${one.nodes.length - 2} more` : one.nodes.join(', ')}
      </td>
      <td data-name="values" class="values">${values(one.metrics)}</td>
      <td data-name="started" class="number">${ago(one.started, now)}</td>
    </tr>`
  })
}

const rowId = ({run}: PageRun): string => `run-${slug(run)}`

function ofSeveral(runs: readonly PageRun[]): boolean {
  return new Set(runs.flatMap((one) => one.user ?? [])).size > 1
}

/** The metrics that tell most: two at most, not those of the machine. */
function values(metrics: Record<string, number>): Content {
  const names = Object.keys(metrics).filter((one) => !isSystem(one))
  const rank = (name: string): number => (/val|test|eval/i.test(name) ? 0 : /loss|acc/i.test(name) ? 1 : 2)
  return names
    .toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b))
    .slice(0, 2)
    .map((name) => html`<span><small>${name}</small> ${short(metrics[name]!)}</span> `)
}
