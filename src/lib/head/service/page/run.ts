import type {PageRunDetail} from '../../types.ts'
import {curves, short} from './draw.ts'
import {address, html, type Content, type Html} from './html.ts'
import {table, warning} from './layout.ts'
import type {RunCurves} from './mlflow-facts.ts'
import {hangsSection, ranksSection} from './ranks.ts'
import {timeline} from './timeline.ts'
import {ago, isOpen, size, state, tookOf} from './words.ts'

/** A run as its page shows it. */
export interface RunSeen {
  detail: PageRunDetail
  curves: RunCurves
}

const MOST_CHARTS = 12
const MOST_FILES = 60

/** The parts of the page that change, by the ids of their elements. Pure. */
export function runParts(
  {detail, curves: lines}: RunSeen,
  error: string | undefined,
  now: number,
): Record<string, Html> {
  return {
    head: head(detail, error, now),
    timeline: timeline(detail, lines.span, now),
    curves: charts(detail, lines),
    hangs: hangsSection(detail, now),
    ranks: ranksSection(detail),
  }
}

/** The body of the page; `log`: what it shows of a log. Pure. */
export function runBody(seen: RunSeen, error: string | undefined, log: Html, may: boolean, now: number): Html {
  const {detail} = seen
  const parts = runParts(seen, error, now)
  return html`<div class="title">
      <h1>${detail.run}</h1>
      ${actions(detail, may)}
    </div>
    ${parts.head} ${parts.timeline} ${parts.hangs} ${parts.curves} ${parts.ranks} ${log} ${what(detail)}
    ${artifacts(detail)}`
}

function actions({run, tracked, status}: PageRunDetail, may: boolean): Html {
  const button = (path: readonly string[], text: string, kind = 'button'): Html =>
    html`<a class="${kind}" href="${address(path)}">${text}</a>`
  const buttons = [
    tracked !== null && button(['why', 'run', run], 'Where from'),
    may && status === 'running' && button(['runs', run, 'stacks'], 'Stacks'),
    may && isOpen({status}) && button(['runs', run, 'stop'], 'Stop …', 'button danger'),
  ]
  return html`<span class="act"
    ><a class="button" href="#log-title">Log</a
    ><a class="button" href="${address(['compare'], {run})}">Compare with …</a>${buttons}</span
  >`
}

function head(detail: PageRunDetail, error: string | undefined, now: number): Html {
  const {started, attempt, worldSize, nodes, project, user, sweep} = detail
  const fact = (name: string, value: Content): Html | undefined =>
    value === null || value === undefined || value === ''
      ? undefined
      : html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`
  return html`<div id="head">
    ${warning(error)} ${detail.away === null ? undefined : html`<p class="warn">${detail.away}</p>`}
    ${detail.cause === null ? undefined : html`<p class="warn cause">${detail.cause}</p>`}
    <dl class="facts">
      ${fact('state', state(detail.status))} ${fact('project', project)} ${fact('started by', user)}
      ${fact('sweep', sweep === null ? null : html`<a href="${address(['sweeps', sweep])}">${sweep}</a>`)}
      ${fact('took', tookOf(detail, now))} ${fact('started', ago(started, now))}
      ${fact('attempt', attempt !== null && attempt > 1 ? attempt : null)} ${fact('ranks', worldSize)}
      ${fact('nodes', nodes.join(', '))} ${detail.figures.map(([name, value]) => fact(name, value))}
    </dl>
  </div>`
}

function charts({run, lastMetrics}: PageRunDetail, {lines, away}: RunCurves): Html {
  const names = Object.keys(lines)
  if (names.length === 0)
    return html`<section id="curves">
      <h2>Curves</h2>
      <p class="none">${away ?? 'It has logged no metrics yet.'}</p>
    </section>`
  const last = new Map(lastMetrics.map((one) => [one.key, one]))
  const shown = names.slice(0, MOST_CHARTS)
  return html`<section id="curves" aria-labelledby="curves-title">
    <h2 id="curves-title">Curves</h2>
    <div class="two">
      ${shown.map(
        (name) =>
          html`<div class="card">
            <h3>
              ${name}
              <small
                >${last.has(name) ? `last ${short(last.get(name)!.value)} at step ${last.get(name)!.step}` : undefined}</small
              >
            </h3>
            ${curves([{name: run, points: lines[name]!}], {title: name, x: 'step', log: false})}
          </div>`,
      )}
    </div>
    ${names.length > shown.length && html`<p class="legend">${names.length - shown.length} more at MLflow.</p>`}
  </section>`
}

function what(detail: PageRunDetail): Html {
  const {command, commit, environment, data, code, params} = detail
  const rows: [string, Content][] = [
    ['command', html`<code>${command.join(' ')}</code>`],
    ['code', code.map((one) => html`<code>${one.digest.slice(0, 12)}</code> ${one.files} files, ${size(one.bytes)} `)],
    ['commit', commit && html`<code>${commit.slice(0, 12)}</code>`],
    ['environment', environment && html`<code>${environment.slice(0, 12)}</code>`],
    ['data', data.map((one) => html`<code>${one.name}@${one.digest.slice(0, 12)}</code> `)],
    ...Object.entries(params).map(([name, value]): [string, Content] => [name, value]),
  ]
  const filled = rows.filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
  return html`<section aria-labelledby="what-title">
    <h2 id="what-title">What it ran</h2>
    ${table(
      ['what', 'value'],
      filled.map(
        ([name, value]) =>
          html`<tr>
            <th scope="row">${name}</th>
            <td>${value}</td>
          </tr>`,
      ),
    )}
  </section>`
}

function artifacts({artifacts: files}: PageRunDetail): Html | undefined {
  if (files.length === 0) return undefined
  return html`<section aria-labelledby="artifacts-title">
    <h2 id="artifacts-title">Artifacts</h2>
    ${table(
      ['file', 'size'],
      files.slice(0, MOST_FILES).map(
        (one) =>
          html`<tr>
            <td><code>${one.path}</code></td>
            <td class="number">${one.size === null ? '' : size(one.size)}</td>
          </tr>`,
      ),
    )}${files.length > MOST_FILES && html`<p class="legend">${files.length - MOST_FILES} more at MLflow.</p>`}
  </section>`
}
