import type {PageSweep} from '../../types.ts'
import {meter, short} from './draw.ts'
import {address, html, slug, type Content, type Html} from './html.ts'
import {listOr, table, warning} from './layout.ts'
import {percent, state} from './words.ts'

const MOST_TRIALS = 300

/** The body of the page of sweeps. Pure. */
export function sweepsBody(sweeps: readonly PageSweep[] | undefined, error: string | undefined): Html {
  const rows = sweeps?.map(
    (one) =>
      html`<tr id="sweep-${slug(one.sweep)}">
        <th scope="row"><a href="${address(['sweeps', one.sweep])}">${one.sweep}</a></th>
        <td>${state(one.status)}</td>
        <td>${one.project}</td>
        <td class="number">${one.trials.length}</td>
        <td>${one.goal} ${one.metric}</td>
        <td class="number">${one.best === null ? '' : short(one.best)}</td>
      </tr>`,
  )
  const none = html`There is no sweep yet: <code>flexrack sweep</code>`
  return html`<h1>Sweeps</h1>
    ${warning(error)}${listOr(none, ['sweep', 'state', 'project', 'trials', 'goal', 'best'], rows)}`
}

/** The body of the page of a sweep. Pure. */
export function sweepBody(sweep: PageSweep, error?: string): Html {
  const done = sweep.trials.filter((one) => one.value !== null)
  const best = bestOf(sweep)
  const importance = Object.entries(sweep.importance).toSorted((a, b) => b[1] - a[1])
  const names = [...new Set(sweep.trials.flatMap((one) => Object.keys(one.params)))]
  const valueOf = (value: string | number | undefined): Content => (typeof value === 'number' ? short(value) : value)
  const picture = (): Html =>
    html`<div class="card wide" tabindex="0" role="group" aria-label="parallel coordinates">
      ${parallel(sweep, names)}
    </div>`
  return html`<div class="title">
      <h1>${sweep.sweep}</h1>
      ${state(sweep.status)}
    </div>
    ${warning(error)}
    <section aria-labelledby="parallel-title">
      <h2 id="parallel-title">Parameters and ${sweep.metric}</h2>
      ${done.length < 2 ? html`<p class="none">Two trials that have ended make a picture.</p>` : picture()}
    </section>
    ${
      importance.length > 0 &&
      html`<section aria-labelledby="matter-title">
        <h2 id="matter-title">What matters</h2>
        ${table(
          ['parameter', 'share of the difference', 'percent'],
          importance.map(
            ([name, share]) =>
              html`<tr>
                <th scope="row">${name}</th>
                <td>${meter(share, `${name}: ${percent(share)}`)}</td>
                <td class="number">${percent(share)}</td>
              </tr>`,
          ),
        )}
      </section>`
    }
    <section aria-labelledby="trials-title">
      <h2 id="trials-title">Trials</h2>
      ${table(
        ['trial', 'state', sweep.metric, ...names, 'run'],
        sweep.trials
          .toSorted((a, b) => order(sweep, a.value) - order(sweep, b.value))
          .slice(0, MOST_TRIALS)
          .map(
            (one) =>
              html`<tr id="trial-${one.number}">
                <th scope="row">${one.number}${one === best && html` <span class="tag">best</span>`}</th>
                <td>${state(one.state)}</td>
                <td class="number">${one.value === null ? '' : short(one.value)}</td>
                ${names.map((name) => html`<td class="number">${valueOf(one.params[name])}</td>`)}
                <td>${one.run !== null && html`<a class="run" href="${address(['runs', one.run])}">${one.run}</a>`}</td>
              </tr>`,
          ),
      )}
    </section>`
}

function bestOf(sweep: PageSweep): PageSweep['trials'][number] | undefined {
  return sweep.trials
    .filter((one) => one.value !== null)
    .toSorted((a, b) => order(sweep, a.value) - order(sweep, b.value))[0]
}

const order = ({goal}: PageSweep, value: number | null): number =>
  value === null ? Number.MAX_VALUE : goal === 'maximize' ? -value : value

const [WIDTH, HEIGHT, TOP, BOTTOM] = [900, 300, 34, 276]

/** Parallel coordinates: an axis a parameter and one for the result, a line a trial. */
function parallel(sweep: PageSweep, names: string[]): Html {
  const done = sweep.trials.filter((one) => one.value !== null)
  const axes = [...names, sweep.metric].map((name, index, all) => {
    const of = (one: (typeof done)[number]): string | number | undefined =>
      index === names.length ? (one.value ?? undefined) : one.params[name]
    const values = done.flatMap((one) => of(one) ?? [])
    return {name, of, place: scale(values), x: 60 + (index / Math.max(1, all.length - 1)) * (WIDTH - 120)}
  })
  const line = (one: (typeof done)[number]): string =>
    axes
      .flatMap(({of, place, x}) =>
        of(one) === undefined ? [] : [`${x.toFixed(1)},${(BOTTOM - place.at(of(one)!) * (BOTTOM - TOP)).toFixed(1)}`],
      )
      .join(' ')
  const best = bestOf(sweep)
  const shown = done.slice(0, MOST_TRIALS).map((one) => {
    const title = `trial ${one.number}: ${short(one.value ?? Number.NaN)}`
    return html`<polyline points="${line(one)}"><title>${title}</title></polyline>`
  })
  const axis = ({name, place, x}: (typeof axes)[number]): Html => {
    const marks = place.marks.map(([text, at]) => {
      const y = (BOTTOM - at * (BOTTOM - TOP) + 4).toFixed(1)
      return html`<text class="tick" x="${x + 6}" y="${y}">${text}</text>`
    })
    const title = html`<text class="tick" x="${x}" y="16" text-anchor="middle">${name}</text>`
    return html`<line class="axis" x1="${x}" x2="${x}" y1="${TOP}" y2="${BOTTOM}" />${title}${marks}`
  }
  return html`<svg
    class="parallel"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    role="img"
    aria-label="parallel coordinates of ${done.length} trials; the best has ${sweep.metric} ${short(best?.value ?? Number.NaN)}"
  >
    ${shown}${best && html`<polyline class="best" points="${line(best)}" />`}${axes.map(axis)}
  </svg>`
}

/** Where a value is on an axis, 0..1: numbers by size, over powers of ten where they span several, words in order. */
function scale(values: readonly (string | number)[]): {at(value: string | number): number; marks: [string, number][]} {
  const numbers = values.filter((one) => typeof one === 'number')
  if (numbers.length < values.length) {
    const words = [...new Set(values.map(String))].sort()
    const at = (value: string | number): number => words.indexOf(String(value)) / Math.max(1, words.length - 1)
    return {at, marks: words.slice(0, 12).map((one) => [one, at(one)])}
  }
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)]
  const isLog = low > 0 && high / low > 50
  const value = (one: number): number => (isLog ? Math.log10(one) : one)
  const span = value(high) - value(low)
  const at = (one: string | number): number => (span === 0 ? 0.5 : (value(Number(one)) - value(low)) / span)
  return {
    at,
    marks:
      span === 0
        ? [[short(low), 0.5]]
        : [
            [short(low), 0],
            [short(high), 1],
          ],
  }
}
