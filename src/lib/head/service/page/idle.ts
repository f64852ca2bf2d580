import type {PageHours, PageIdle} from '../../types.ts'
import {address, html, type Html} from './html.ts'
import {tableOr, tile, warning} from './layout.ts'
import {duration, percent} from './words.ts'

/** Days that can be looked back. */
export const LOOK_BACK = [1, 7, 30] as const
const HOUR_MS = 3_600_000
const [WIDTH, HEIGHT, FOOT] = [960, 120, 18]
/** Hours that are drawn. */
const BARS = 48
const MOST_ROWS = 50
const KINDS = {free: 'free', leased: 'leased, idle', dark: 'reserved, dark'} as const

/** The body of the page of GPUs that do nothing, and of the hours that were paid for it. Pure. */
export function idleBody(idle: PageIdle | undefined, error: string | undefined, days: number, now: number): Html {
  const choice = LOOK_BACK.map((one) => {
    const name = one === 1 ? 'a day' : `${one} days`
    const at = address(['idle'], {days: String(one)})
    return one === days
      ? html`<a class="button" href="${at}" aria-current="true">${name}</a>`
      : html`<a class="button" href="${at}">${name}</a>`
  })
  return html`<div class="title">
      <h1>Idle GPUs</h1>
      <span class="act">${choice}</span>
    </div>
    ${warning(error)}${idle && [tiles(idle), nowSection(idle, now), hoursSection(idle, now), spent(idle)]}`
}

function tiles({idle, total}: PageIdle): Html {
  const count = (state: string): number =>
    idle.filter((one) => one.state === state).reduce((sum, one) => sum + one.gpus, 0)
  const wasted = idleHours(total)
  return html`<dl class="tiles">
    ${tile('free now', count('free'))} ${tile('leased, but idle', count('leased'))}
    ${tile('of runs that hardly compute', count('dark'), undefined, count('dark') > 0 ? 'bad' : '')}
    ${tile('GPU hours of runs', hours(total.hours))}
    ${tile('of them measured idle', wasted === null ? 'not measured' : hours(wasted))}
  </dl>`
}

function nowSection({idle, unasked}: PageIdle, now: number): Html {
  const rows = idle.map(
    (one) =>
      html`<tr>
        <th scope="row"><a href="${address(['nodes', one.node])}">${one.node}</a></th>
        <td class="number">${one.index === null ? `${one.gpus} GPUs` : `GPU ${one.index}`}</td>
        <td>${one.state === 'free' ? KINDS.free : html`<span class="raised">${KINDS[one.state]}</span>`}</td>
        <td>${one.owner}</td>
        <td>${holder(one)}</td>
        <td class="number">${one.since === null ? '' : duration(now - one.since)}</td>
        <td>${one.why}</td>
      </tr>`,
  )
  const none = 'No GPU is idle that flexrack can see.'
  return html`<section aria-labelledby="now-title">
    <h2 id="now-title">Now</h2>
    ${unasked.map((one) => html`<p class="warn">${one}</p>`)}
    ${tableOr(none, ['node', 'what', 'state', 'who has it', 'by', 'for', 'why'], rows, 'idle-now')}
  </section>`
}

function holder({state, holder: name}: PageIdle['idle'][number]): Html | undefined {
  if (name === null) return undefined
  return state === 'dark' ? html`<a href="${address(['runs', name])}">${name}</a>` : html`<code>${name}</code>`
}

/** A bar an hour: what computed, what did not, what nobody measured. */
function hoursSection({hours: rows, until}: PageIdle, now: number): Html {
  const last = Math.floor(Math.min(until, now) / HOUR_MS)
  const known = new Map(rows.map((one) => [Math.floor(Date.parse(one.name.replace(' ', 'T')) / HOUR_MS), one]))
  const most = Math.max(1, ...rows.map((one) => one.hours))
  const bars = Array.from({length: BARS}, (_, index) => {
    const slot = last - BARS + 1 + index
    return hourBar(known.get(slot), slot, index, most)
  })
  const whole = rows.reduce((sum, one) => sum + one.hours, 0)
  return html`<section aria-labelledby="hours-title">
    <h2 id="hours-title">GPU hours of runs, hour by hour</h2>
    <div class="card wide" tabindex="0" role="group" aria-label="GPU hours by hour">
      <svg
        class="ranks"
        viewBox="0 0 ${WIDTH} ${HEIGHT}"
        role="img"
        aria-label="${hours(whole)} GPU hours in the last two days, at most ${hours(most)} in an hour"
      >
        ${bars}
      </svg>
      <p class="legend">
        <span><i class="key waits"></i>computed</span><span><i class="key slow"></i>idle</span
        ><span><i class="key fast"></i>not measured</span><span>at most ${hours(most)} GPU hours in an hour; UTC</span>
      </p>
    </div>
  </section>`
}

/** `slot`: hours since 1970; `most`: hours of the highest bar. */
function hourBar(one: PageHours | undefined, slot: number, index: number, most: number): Html {
  const each = WIDTH / BARS
  const hour = new Date(slot * HOUR_MS).getUTCHours()
  const anchor = index === 0 ? 'start' : index > BARS - 3 ? 'end' : 'middle'
  const tick =
    hour % 6 === 0 &&
    html`<text class="tick" x="${(index * each + each / 2).toFixed(1)}" y="${HEIGHT - 3}" text-anchor="${anchor}"
      >${String(hour).padStart(2, '0')}:00</text
    >`
  if (!one) return html`<g>${tick}</g>`
  let y = HEIGHT - FOOT
  const part = (kind: string, value: number): Html | undefined => {
    if (value <= 0) return undefined
    const height = (value / most) * (HEIGHT - FOOT - 6)
    y -= height
    return html`<rect
      class="${kind}"
      x="${(index * each + 1).toFixed(1)}"
      y="${y.toFixed(1)}"
      width="${(each - 2).toFixed(1)}"
      height="${height.toFixed(1)}"
    />`
  }
  const parts = [part('waits', one.busy ?? 0), part('slow', idleHours(one) ?? 0), part('fast', unknownHours(one))]
  return html`<g><title>${one.name}: ${told(one)}</title>${parts}${tick}</g>`
}

function spent({users, projects}: PageIdle): Html {
  const one = (title: string, rows: readonly PageHours[]): Html => {
    const lines = rows.slice(0, MOST_ROWS).map((row) => {
      const idle = idleHours(row)
      return html`<tr>
        <th scope="row">${row.name}</th>
        <td class="number">${hours(row.hours)}</td>
        <td class="number">${row.seen === null || row.seen <= 0 ? '' : percent((row.busy ?? 0) / row.seen)}</td>
        <td class="number">${idle === null ? '' : hours(idle)}</td>
        <td class="number">${hours(unknownHours(row))}</td>
      </tr>`
    })
    return html`<section>
      <h2>By ${title}</h2>
      ${tableOr('No run had a GPU in that time.', [title, 'GPU hours', 'busy', 'idle hours', 'not measured'], lines)}
    </section>`
  }
  return html`<div class="two">${one('user', users)}${one('project', projects)}</div>`
}

const idleHours = ({seen, busy}: PageHours): number | null => (seen === null ? null : Math.max(0, seen - (busy ?? 0)))
const unknownHours = ({hours: all, seen}: PageHours): number => Math.max(0, all - (seen ?? 0))
const hours = (value: number): string => (value >= 100 ? String(Math.round(value)) : value.toFixed(1))

function told(one: PageHours): string {
  const idle = idleHours(one)
  const measured = idle === null ? 'not measured' : `${hours(one.busy ?? 0)} computed, ${hours(idle)} idle`
  return `${hours(one.hours)} GPU hours, ${measured}`
}
