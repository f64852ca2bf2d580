import type {PageAttempt, PageRunDetail} from '../../types.ts'
import {curves, short} from './draw.ts'
import {address, html, type Content, type Html} from './html.ts'
import {table, warning} from './layout.ts'
import type {RunCurves} from './mlflow-facts.ts'
import {hangsSection, hasStacks, ranksSection} from './ranks.ts'
import {ago, duration, isOpen, size, state, tookOf} from './words.ts'

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
    timeline: timeline(detail, now),
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

function actions(detail: PageRunDetail, may: boolean): Html {
  return html`<span class="act"
    ><a class="button" href="${address(['compare'], {run: detail.run})}">Compare with …</a
    >${detail.tracked !== null && html`<a class="button" href="${address(['why', 'run', detail.run])}">Where from</a>`}${may && hasStacks(detail) && html`<a class="button" href="${address(['runs', detail.run, 'stacks'])}">Stacks</a>`}${may && isOpen(detail) && html`<a class="button danger" href="${address(['runs', detail.run, 'stop'])}">Stop …</a>`}</span
  >`
}

function head(detail: PageRunDetail, error: string | undefined, now: number): Html {
  const {started, attempt, worldSize, nodes, project, sweep} = detail
  const took = tookOf(detail, now)
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
      ${fact('state', state(detail.status))} ${fact('project', project)}
      ${fact('sweep', sweep === null ? null : html`<a href="${address(['sweeps', sweep])}">${sweep}</a>`)}
      ${fact('took', took === null ? null : duration(took))} ${fact('started', ago(started, now))}
      ${fact('attempt', attempt !== null && attempt > 1 ? attempt : null)} ${fact('ranks', worldSize)}
      ${fact('nodes', nodes.join(', '))} ${detail.figures.map(([name, value]) => fact(name, value))}
    </dl>
  </div>`
}

const [WIDTH, ROW, LEFT] = [900, 26, 118]

/** From the start to the last step: a bar an attempt, with what ended it. */
function timeline(detail: PageRunDetail, now: number): Html {
  const attempts = detail.attempts.filter((one) => one.started !== null)
  const {started, ended} = detail
  if (attempts.length === 0 && isOpen(detail) && started !== null)
    attempts.push({
      attempt: detail.attempt ?? 1,
      status: detail.status,
      started,
      ended: null,
      why: null,
      cause: null,
      nodes: detail.nodes,
      steps: null,
    })
  if (attempts.length === 0 || started === null) return html`<section id="timeline"></section>`
  const last = isOpen(detail) ? now : (ended ?? now)
  const x = (at: number): number =>
    LEFT + Math.min(1, Math.max(0, (at - started) / Math.max(1, last - started))) * (WIDTH - LEFT)
  const height = attempts.length * ROW + 20
  const bar = (one: PageAttempt, index: number): Html => {
    const [from, to] = [x(one.started ?? started), x(one.ended ?? last)]
    const kind =
      one.ended === null ? 'active' : one.status === 'finished' ? 'good' : one.status === 'failed' ? 'bad' : 'bar'
    const text = [
      duration((one.ended ?? last) - (one.started ?? started)),
      one.steps === null ? '' : `${one.steps} steps`,
      one.cause ?? '',
    ]
      .filter(Boolean)
      .join(' · ')
    return html`<g
      ><title>
        ${[`attempt ${one.attempt}: ${one.status}`, one.why ?? '', text, one.nodes.join(', ')].filter(Boolean).join('\n')}</title
      ><text x="0" y="${index * ROW + 17}">attempt ${one.attempt}</text
      ><rect
        class="${kind}"
        x="${from.toFixed(1)}"
        y="${index * ROW + 3}"
        width="${Math.max(3, to - from).toFixed(1)}"
        height="${ROW - 8}"
        rx="3"
      /><text x="${(from + 8).toFixed(1)}" y="${index * ROW + 17}"
        >${to - from > 150 ? text.slice(0, Math.floor((to - from) / 6.5)) : ''}</text
      ></g
    >`
  }
  const marks = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      html`<text
        x="${LEFT + share * (WIDTH - LEFT)}"
        y="${height - 3}"
        text-anchor="${share === 1 ? 'end' : share === 0 ? 'start' : 'middle'}"
        >${share === 0 ? 'start' : `+${duration((last - started) * share)}`}</text
      >`,
  )
  return html`<section id="timeline" aria-labelledby="timeline-title">
    <h2 id="timeline-title">Attempts</h2>
    <div class="card">
      <svg
        class="timeline"
        viewBox="0 0 ${WIDTH} ${height}"
        role="img"
        aria-label="${attempts.map((one) => `attempt ${one.attempt} ${one.status}`).join(', ')}"
      >
        ${attempts.map(bar)}${marks}
      </svg>
    </div>
  </section>`
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
