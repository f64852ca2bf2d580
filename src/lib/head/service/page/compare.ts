import type {PageRun} from '../../types.ts'
import {CURVES, curves, short} from './draw.ts'
import {address, html, type Html} from './html.ts'
import {tableOr} from './layout.ts'
import {metricNames, state, tookOf} from './words.ts'

/** Runs beside each other: of each metric a curve for each. */
export interface Compared {
  runs: PageRun[]
  metrics: {name: string; lines: [number, number][][]}[]
  /** What each run was started with. */
  params: Record<string, string>[]
  /** Names that are no runs. */
  missing: string[]
}

export const MOST_COMPARED = CURVES
const MOST_METRICS = 12
const MOST_PARAMS = 100

/** The body of the page that compares runs. `others`: that could be added. Pure. */
export function compareBody({runs, metrics, params, missing}: Compared, others: readonly PageRun[], now: number): Html {
  const names = metricNames(runs).slice(0, MOST_METRICS)
  return html`<h1>Compare</h1>
    ${missing.map((one) => html`<p class="warn">There is no run ${one} among the newest.</p>`)}
    <form class="filter" method="get" action="${address(['compare'])}">
      ${runs.map((one) => html`<input type="hidden" name="run" value="${one.run}" />`)}
      <label
        >Add
        <select name="run">
          <option value=""></option>
          ${others.map((one) => html`<option value="${one.run}">${one.run}</option>`)}
        </select></label
      ><button>Add</button><a class="button" href="${address(['runs'])}">Choose others</a>
    </form>
    ${tableOr(
      'Choose two to eight runs in the list of runs.',
      [html`<span class="unseen">colour</span>`, 'run', 'state', 'took', 'ranks', ...names],
      runs.map(
        (one, index) =>
          html`<tr>
            <td><i class="swatch c${index % CURVES}"></i></td>
            <th scope="row"><a href="${address(['runs', one.run])}">${one.run}</a></th>
            <td>${state(one.status)}</td>
            <td class="number">${tookOf(one, now)}</td>
            <td class="number">${one.worldSize}</td>
            ${names.map((name) => html`<td class="number">${one.metrics[name] === undefined ? '' : short(one.metrics[name])}</td>`)}
          </tr>`,
      ),
    )}
    ${parameters(runs, params)}
    <section aria-labelledby="curves-title">
      <h2 id="curves-title">Curves</h2>
      ${
        metrics.length === 0
          ? html`<p class="none">They have logged nothing at the head's tracking server.</p>`
          : html`<div class="two">
              ${metrics.map(
                ({name, lines}) =>
                  html`<div class="card">
                    <h3>${name}</h3>
                    ${curves(
                      lines.map((points, index) => ({name: runs[index]?.run ?? '', points})),
                      {title: name, x: 'step', log: false},
                    )}
                  </div>`,
              )}
            </div>`
      }
    </section>`
}

/** What they were started with, a column a run: what differs, and how much is the same. */
function parameters(runs: readonly PageRun[], params: Compared['params']): Html | undefined {
  const names = [...new Set(params.flatMap((one) => Object.keys(one)))].sort()
  if (names.length === 0) return undefined
  const valueOf = (at: number, name: string): string | undefined =>
    params[at] && Object.hasOwn(params[at], name) ? params[at][name] : undefined
  const differing = names.filter((name) => new Set(runs.map((_, at) => valueOf(at, name))).size > 1)
  const same = names.length - differing.length
  const rows = differing.slice(0, MOST_PARAMS).map(
    (name) =>
      html`<tr>
        <th scope="row">${name}</th>
        ${runs.map((_, at) => html`<td class="value">${valueOf(at, name) ?? ''}</td>`)}
      </tr>`,
  )
  const left = differing.length - rows.length
  return html`<section aria-labelledby="params-title">
    <h2 id="params-title">Parameters that differ</h2>
    ${tableOr('None: they were started with the same.', ['parameter', ...runs.map((one) => one.run)], rows)}
    ${(same > 0 || left > 0) && html`<p><small>${left > 0 ? `and ${left} more; ` : ''}${same === 1 ? '1 is' : `${same} are`} the same</small></p>`}
  </section>`
}
