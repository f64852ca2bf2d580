import {rangesOf} from '../../../base/index.ts'
import type {PageRank, PageRunDetail, PageStacks} from '../../types.ts'
import {short} from './draw.ts'
import {address, html, type Html} from './html.ts'
import {table} from './layout.ts'
import {ago, percent, size} from './words.ts'

const [WIDTH, HEIGHT, FOOT] = [900, 96, 16]
/** A rank below this share of the median is told of. */
const SLOW = 0.95
const MOST_RANKS = 512

/** Ranks beside each other: who is slower, and who waits for data. Pure. */
export function ranksSection({ranks, slowest}: PageRunDetail): Html {
  const known = ranks.slice(0, MOST_RANKS)
  if (known.length < 2 && slowest === null) return html`<section id="ranks"></section>`
  return html`<section id="ranks" aria-labelledby="ranks-title">
    <h2 id="ranks-title">Ranks</h2>
    ${slowest !== null && html`<p class="warn">${slowest}</p>`}
    ${known.length > 1 && html`<div class="card wide" tabindex="0" role="group" aria-label="ranks">${bars(known)}</div>`}
    ${
      known.length > 1 &&
      html`<details>
        <summary>all ${known.length} ranks</summary>
        ${table(
          ['rank', 'node', 'steps', 'a second', 'waits for data', 'processors', 'memory'],
          known.map(
            (one) =>
              html`<tr>
                <th scope="row">${one.rank}</th>
                <td>${one.node}</td>
                <td class="number">${one.steps}</td>
                <td class="number">${one.rate === null ? '' : short(one.rate)}</td>
                <td class="number">${one.wait === null ? '' : percent(one.wait)}</td>
                <td class="number">${one.cpu === null ? '' : `${Math.round(one.cpu)} %`}</td>
                <td class="number">${one.memory === null ? '' : size(one.memory)}</td>
              </tr>`,
          ),
        )}
      </details>`
    }
  </section>`
}

/** A bar a rank: how fast it is, or how far where none says; the foot of it is what it waits for data. */
function bars(ranks: readonly PageRank[]): Html {
  const isRated = ranks.some((one) => one.rate !== null)
  const valueOf = (one: PageRank): number => (isRated ? (one.rate ?? 0) : one.steps)
  const values = ranks.map(valueOf)
  const most = Math.max(...values, Number.MIN_VALUE)
  const median = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
  const each = WIDTH / ranks.length
  const what = isRated ? 'a second' : 'steps'
  const bar = (one: PageRank, index: number): Html => {
    const height = (valueOf(one) / most) * (HEIGHT - FOOT - 4)
    const waits = height * Math.min(1, one.wait ?? 0)
    const [x, width] = [(index * each).toFixed(1), Math.max(1, each - Math.min(3, each / 4)).toFixed(1)]
    const tick = html`<text
      class="tick"
      x="${(index * each + each / 2).toFixed(1)}"
      y="${HEIGHT - 2}"
      text-anchor="middle"
      >${one.rank}</text
    >`
    return html`<g
      ><title>
        rank ${one.rank} on ${one.node}: ${short(valueOf(one))}
        ${what}${one.wait !== null && `, waits for data ${percent(one.wait)}`}</title
      ><rect
        class="${valueOf(one) < median * SLOW ? 'slow' : 'fast'}"
        x="${x}"
        y="${(HEIGHT - FOOT - height).toFixed(1)}"
        width="${width}"
        height="${height.toFixed(1)}"
        rx="1"
      /><rect
        class="waits"
        x="${x}"
        y="${(HEIGHT - FOOT - waits).toFixed(1)}"
        width="${width}"
        height="${waits.toFixed(1)}"
      />${index % Math.ceil(26 / each) === 0 && tick}</g
    >`
  }
  const slow = ranks.filter((one) => valueOf(one) < median * SLOW).map((one) => one.rank)
  const slower = slow.length === 0 ? 'none is slower' : `slower: ${slow.join(', ')}`
  return html`<svg
      class="ranks"
      viewBox="0 0 ${WIDTH} ${HEIGHT}"
      role="img"
      aria-label="${ranks.length} ranks, ${short(median)} ${what} in the middle; ${slower}"
    >
      ${ranks.map(bar)}
    </svg>
    <p class="legend">
      <span><i class="key fast"></i>${isRated ? 'samples or tokens a second' : 'steps'}</span
      ><span><i class="key waits"></i>waits for data</span><span><i class="key slow"></i>slower than the others</span>
    </p>`
}

/** When ranks made no progress, who was waited for, and where they were. Pure. */
export function hangsSection({hangs: found}: PageRunDetail, now: number): Html {
  if (found.length === 0) return html`<section id="hangs"></section>`
  const stack = (lines: readonly string[]): Html => {
    const text = lines.map((line) => html`<span class="l">${line}</span>`)
    return html`<pre class="stack" tabindex="0" aria-label="stacks">${text}</pre>`
  }
  return html`<section id="hangs" aria-labelledby="hangs-title">
    <h2 id="hangs-title">Hangs</h2>
    ${found.map(
      (one) =>
        html`<div class="warn">
          <p><b>attempt ${one.attempt}, ${ago(one.at, now)}</b> ${one.text}</p>
          ${one.suspects.map(({rank, node, why}) => html`<p>rank ${rank} on ${node}: ${why}</p>`)}
          ${one.lines.length > 0 && stack(one.lines)}
        </div>`,
    )}
  </section>`
}

/** The body of the page of stacks: ranks that are at one place stand together. Pure. */
export function stacksBody(run: string, {attempt, groups, failed}: PageStacks): Html {
  const stack = (ranks: readonly number[], frames: PageStacks['groups'][number]['frames']): Html => {
    const line = (one: (typeof frames)[number]): Html =>
      html`<span class="l"><b>${one.function}</b> ${one.file}${one.line !== null && `:${one.line}`}</span>`
    // No space but its own may stand in it.
    return html`<pre class="stack" tabindex="0" aria-label="stack of ${rangesOf(ranks)}">${frames.map(line)}</pre>`
  }
  return html`<div class="title">
      <h1>Stacks of ${run}</h1>
      <span class="act"
        ><a class="button" href="${address(['runs', run, 'stacks'])}">Look again</a
        ><a class="button" href="${address(['runs', run])}">The run</a></span
      >
    </div>
    ${failed.map(({node, message}) => html`<p class="warn">${node}: ${message}</p>`)}
    ${groups.map(
      ({ranks, frames}) =>
        html`<section class="card">
          <h2>${ranks.length === 1 ? 'rank' : `${ranks.length} ranks:`} ${rangesOf(ranks)}</h2>
          ${stack(ranks, frames)}
        </section>`,
    )}
    <p class="legend">Attempt ${attempt}, the main thread of every rank, the innermost call first.</p>`
}
