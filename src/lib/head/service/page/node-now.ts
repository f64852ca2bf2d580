import type {PageGpu, PageNode, PageRun} from '../../types.ts'
import {meter} from './draw.ts'
import {html, type Content, type Html} from './html.ts'
import {table, tableOr, tile, warning} from './layout.ts'
import type {RackLook} from './rack-look.ts'
import {runHead, runRows} from './runs.ts'
import type {Seen} from './topics.ts'
import {isOpen, outdated, percent, size, sizes, state} from './words.ts'

/**
 * What a node does now: what of it is used, each GPU with who has it, and its runs. The cells of the page of the rack tell the
 * same to a pointer only. Pure.
 */
export function nodeNow(name: string, seen: Seen<RackLook>, now: number): Html {
  const rack = seen.value?.rack
  const node = rack?.nodes.find((one) => one.name === name)
  const runs = (rack?.runs ?? []).filter((one) => isOpen(one) && one.nodes.includes(name))
  const gone = rack && !node && html`<p class="warn">The rack has no such node any more.</p>`
  return html`<div id="now">${warning(outdated(seen, now))}${gone}${node && nowOf(node, runs, now)}</div>`
}

function nowOf(node: PageNode, runs: PageRun[], now: number): Html {
  if (!node.ok)
    return html`<p class="warn">
      ${state(node.gone ? 'gone' : 'unreachable')}
      ${node.gone ? 'It was not to be here any more (until, in the rack file).' : node.message}
    </p>`
  const {busy, load, cores, memory, disk, gpus, gpuCount, reserved} = node
  const running = tableOr('No run goes on here.', runHead(runs), runRows(runs, now))
  const waits = ({owner, state: word, gpus: count}: PageNode['reserved'][number]): Html =>
    html`<tr>
      <th scope="row">${owner}</th>
      <td>${state(word)}</td>
      <td class="number">${count}</td>
    </tr>`
  return html`<dl class="tiles">
      ${tile('processors', busy === null ? 'not known' : percent(busy), load === null ? undefined : `load ${load.toFixed(1)}${cores === null ? '' : ` of ${cores}`}`)}
      ${memory && tile('memory', sizes(memory.used, memory.total), 'used')}
      ${disk && tile('disk', size(disk.free), `free of ${size(disk.total)}`)}
      ${tile('GPUs', Math.max(gpuCount, gpus.length), gpus.length > 0 ? `${gpus.length} shared` : gpuCount > 0 ? 'none shared' : 'none')}
    </dl>
    ${
      gpus.length > 0 &&
      html`<section aria-labelledby="gpus-title">
        <h2 id="gpus-title">GPUs</h2>
        ${table(['GPU', 'memory', 'busy', 'who has it', 'for', 'used from'], gpus.map(gpuRow))}
      </section>`
    }
    ${
      reserved.length > 0 &&
      html`<section aria-labelledby="reserved-title">
        <h2 id="reserved-title">Reserved</h2>
        ${table(['who', 'state', 'GPUs'], reserved.map(waits))}
      </section>`
    }
    <section aria-labelledby="here-title">
      <h2 id="here-title">Going on here</h2>
      ${running}
    </section>`
}

function gpuRow({index, name, memory, used, busy, holders, whole}: PageGpu): Html {
  const lines = (of: (one: PageGpu['holders'][number]) => Content): Html[] =>
    holders.map((one) => html`<div>${of(one)}</div>`)
  const share = used / Math.max(1, memory)
  const owner = ({owner: who, share: part}: PageGpu['holders'][number]): Html =>
    html`${who}${part < 1 && html` <span class="tag">${percent(part)}</span>`}`
  return html`<tr>
    <th scope="row">${index}<small>${name}</small></th>
    <td>${meter(share, `memory of GPU ${index}: ${percent(share)}`)}<small>${sizes(used, memory)}</small></td>
    <td>${meter(busy, `GPU ${index}: ${percent(busy)} busy`)}<small>${percent(busy)}</small></td>
    <td>${holders.length > 0 ? lines(owner) : whole ? 'taken' : 'free'}</td>
    <td>${lines(({purpose}) => purpose)}</td>
    <td>${lines(({from}) => from ?? 'its node')}</td>
  </tr>`
}
