import type {PageAttempt, PageRunDetail} from '../../types.ts'
import {html, type Html} from './html.ts'
import type {RunCurves} from './mlflow-facts.ts'
import {duration, isOpen} from './words.ts'

const [WIDTH, ROW, LEFT] = [900, 26, 118]

/** From the start to the last step: what it waited for, then a bar an attempt, with what ended it. Pure. */
export function timeline(detail: PageRunDetail, span: RunCurves['span'], now: number): Html {
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
  const stages = stagesOf(detail, attempts[0]?.started ?? started, span, last)
  const top = stages.length > 1 ? ROW : 0
  const height = top + attempts.length * ROW + 20
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
      ><text x="0" y="${top + index * ROW + 17}">attempt ${one.attempt}</text
      ><rect
        class="${kind}"
        x="${from.toFixed(1)}"
        y="${top + index * ROW + 3}"
        width="${Math.max(3, to - from).toFixed(1)}"
        height="${ROW - 8}"
        rx="3"
      /><text x="${(from + 8).toFixed(1)}" y="${top + index * ROW + 17}"
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
  const told = [
    ...stages.map(({name, from, to}) => `${name} ${duration(to - from)}`),
    ...attempts.map((one) => `attempt ${one.attempt} ${one.status}`),
  ]
  return html`<section id="timeline" aria-labelledby="timeline-title">
    <h2 id="timeline-title">Attempts</h2>
    <div class="card wide" tabindex="0" role="group" aria-label="from the start to the last step">
      <svg class="timeline" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${told.join(', ')}">
        ${top > 0 && stageRow(stages, x)}${attempts.map(bar)}${marks}
      </svg>
    </div>
  </section>`
}

interface Stage {
  name: string
  from: number
  to: number
}

/** What passed between its start and its newest value, as far as that is known. */
function stagesOf(
  {started, ranksStarted}: PageRunDetail,
  placed: number | null,
  span: RunCurves['span'],
  last: number,
): Stage[] {
  const marks: [name: string, at: number | null | undefined][] = [
    ['placed', placed],
    ['ranks start', ranksStarted],
    ['first value', span?.first],
    ['trains', span?.last],
  ]
  let from = started ?? last
  return marks.flatMap(([name, at]) => {
    if (at === null || at === undefined || at < from) return []
    const stage = {name, from, to: Math.min(at, last)}
    from = stage.to
    return stage.to > stage.from ? [stage] : []
  })
}

function stageRow(stages: readonly Stage[], x: (at: number) => number): Html {
  const part = ({name, from, to}: Stage, index: number): Html => {
    const [left, right] = [x(from), x(to)]
    const text = `${name} ${duration(to - from)}`
    return html`<g
      ><title>${index === stages.length - 1 && name === 'trains' ? text : `until ${text}`}</title
      ><rect
        class="stage s${index % 4}"
        x="${left.toFixed(1)}"
        y="5"
        width="${Math.max(2, right - left - 1).toFixed(1)}"
        height="${ROW - 12}"
        rx="2"
      />${right - left > text.length * 6.6 + 10 && html`<text x="${(left + 6).toFixed(1)}" y="17">${text}</text>`}</g
    >`
  }
  return html`<text x="0" y="17">from the start</text>${stages.map(part)}`
}
