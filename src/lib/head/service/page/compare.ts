import type {PageRun} from '../../types.ts'
import {CURVES, curves, short} from './draw.ts'
import {address, html, type Html} from './html.ts'
import {tableOr} from './layout.ts'
import {duration, metricNames, state} from './words.ts'

/** Runs beside each other: of each metric a curve for each. */
export interface Compared {
  runs: PageRun[]
  metrics: {name: string; lines: [number, number][][]}[]
  /** Names that are no runs. */
  missing: string[]
}

export const MOST_COMPARED = CURVES
const MOST_METRICS = 12

/** The body of the page that compares runs. `others`: that could be added. Pure. */
export function compareBody({runs, metrics, missing}: Compared, others: readonly PageRun[]): Html {
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
            <td class="number">
              ${one.started === null || one.ended === null ? '' : duration(one.ended - one.started)}
            </td>
            <td class="number">${one.worldSize}</td>
            ${names.map((name) => html`<td class="number">${one.metrics[name] === undefined ? '' : short(one.metrics[name])}</td>`)}
          </tr>`,
      ),
    )}
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
