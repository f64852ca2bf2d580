import type {PageGpu, PageNode, PageRack, PageRun} from '../../types.ts'
import type {Parts} from './live.ts'
import {meter, spark} from './draw.ts'
import {address, html, slug, type Html} from './html.ts'
import {table, tableOr, tile, warning} from './layout.ts'
import {runHead, runRows} from './runs.ts'
import {ago, isOpen, outdated, percent, size, sizes, state} from './words.ts'

/** A GPU that somebody has and that was busy for less than this share of the last look does nothing. */
const IDLE_SHARE = 0.02
/** Looks that a node's line shows. */
export const LINE_LOOKS = 60

/** What the page of the rack knows: the last look, and how busy processors were in those before. */
export interface RackSeen {
  rack: PageRack | undefined
  at: number
  error: string | undefined
  busy: ReadonlyMap<string, (number | null)[]>
}

/** The parts of the page that change, by the ids of their elements. Pure. */
export function rackParts(seen: RackSeen, now: number): Parts {
  const {rack} = seen
  if (!rack) return {notice: notice(seen, now)}
  const going = rack.runs.filter(isOpen)
  return {
    notice: notice(seen, now),
    tiles: tiles(rack, going),
    ...Object.fromEntries(
      rack.nodes.map((node) => [`node-${slug(node.name)}`, nodeRow(node, going, seen.busy.get(node.name) ?? [])]),
    ),
    nodes: rack.nodes.map((node) => `node-${slug(node.name)}`),
    going: goingOn(going, now),
    leases: leases(rack, now),
  }
}

/** The body of the page. Pure. */
export function rackBody(seen: RackSeen, now: number): Html {
  const parts = rackParts(seen, now)
  if (!seen.rack)
    return html`<h1 class="unseen">Rack</h1>
      ${parts.notice}
      <p class="none">The nodes are being asked. This page shows them as soon as they have answered.</p>`
  const rows = seen.rack.nodes.map((node) => parts[`node-${slug(node.name)}`])
  const none = html`The rack has no nodes yet: <code>flexrack rack add</code>`
  return html`<h1 class="unseen">Rack ${seen.rack.rack}</h1>
    ${parts.notice} ${parts.tiles}
    <section aria-labelledby="nodes-title">
      <h2 id="nodes-title">Nodes</h2>
      ${tableOr(none, ['node', 'processors', 'memory', 'disk', 'GPUs', 'runs'], rows, 'nodes', 'nodes')}
      ${legend(seen.rack)}
    </section>
    ${parts.going} ${parts.leases}`
}

function notice({rack, error, at}: RackSeen, now: number): Html {
  return html`<div id="notice">
    ${warning(outdated({error, at}, now))}${rack?.unknown.map((one) => html`<p class="warn">${one}</p>`)}
  </div>`
}

function tiles({nodes, leases: taken}: PageRack, going: PageRun[]): Html {
  const gpus = nodes.flatMap((one) => one.gpus)
  const free = gpus.filter((one) => !one.whole && one.holders.length === 0).length
  const counted = nodes.reduce((sum, one) => sum + Math.max(one.gpuCount, one.gpus.length), 0)
  const well = nodes.filter((one) => one.ok).length
  const meant = nodes.filter((one) => !one.gone).length
  const used = gpus.reduce((sum, one) => sum + one.used, 0)
  const memory = gpus.reduce((sum, one) => sum + one.memory, 0)
  const busy = gpus.length > 0 ? gpus.reduce((sum, one) => sum + one.busy, 0) / gpus.length : null
  const idle = gpus.filter((one) => one.holders.length > 0 && one.busy < IDLE_SHARE).length
  const waiting = nodes.flatMap((one) => one.reserved).filter((one) => one.state === 'waiting').length
  const busyTile = (share: number): Html =>
    tile('GPUs busy', percent(share), idle > 0 ? `${idle} leased and idle` : 'on average', idle > 0 ? 'raised' : '')
  return html`<dl class="tiles" id="tiles">
    ${tile('nodes', well, well === meant ? 'all answer' : `of ${meant} answer`, well === meant ? '' : 'bad')}
    ${gpus.length > 0 ? tile('free GPUs', free, `of ${gpus.length} shared`) : tile('GPUs', counted, counted > 0 ? 'none shared' : 'none')}
    ${gpus.length > 0 ? tile('GPU memory', sizes(used, memory), 'used') : undefined}
    ${busy === null ? undefined : busyTile(busy)}
    ${tile('runs', going.length, waiting > 0 ? `${waiting} wait` : going.length === 1 ? 'goes on' : 'go on')}
    ${gpus.length > 0 ? tile('leases', taken.length, `of ${new Set(taken.map((one) => one.owner)).size} users`) : undefined}
  </dl>`
}

function nodeRow(node: PageNode, going: PageRun[], busy: (number | null)[]): Html {
  const mine = going.filter((one) => one.nodes.includes(node.name))
  const name = html`<th scope="row">
    <a class="node-name" href="${address(['nodes', node.name])}">${node.name}</a>
    ${node.ok ? undefined : state(node.gone ? 'gone' : 'unreachable')}<small
      >${node.host === node.name ? undefined : node.host}</small
    >
  </th>`
  if (!node.ok)
    return html`<tr id="node-${slug(node.name)}" class="away">
      ${name}
      <td colspan="5" class="${node.gone ? 'gone' : 'why'}">
        ${node.gone ? 'It was not to be here any more (until, in the rack file).' : node.message}
      </td>
    </tr>`
  const {memory, disk} = node
  const share = memory && memory.used / Math.max(1, memory.total)
  const full = disk && 1 - disk.free / Math.max(1, disk.total)
  const line = (now: number): Html => {
    const label = `processors of ${node.name}: ${percent(now)} busy`
    return html`<span class="pair">${spark(busy, LINE_LOOKS, label)}<b>${percent(now)}</b></span>`
  }
  const filled = meter(share, `memory of ${node.name}: ${percent(share ?? 0)}`, 'load')
  const links = mine.slice(0, 2).map((one) => html`<a class="run" href="${address(['runs', one.run])}">${one.run}</a> `)
  return html`<tr id="node-${slug(node.name)}">
    ${name}
    <td data-name="processors">
      ${node.busy === null ? undefined : line(node.busy)}<small
        >${node.load === null ? undefined : `load ${node.load.toFixed(1)}`}${node.cores === null ? undefined : ` of ${node.cores}`}</small
      >
    </td>
    <td data-name="memory">
      ${memory && html`${filled}<small data-of="memory">${sizes(memory.used, memory.total)}</small>`}
    </td>
    <td data-name="disk">
      ${disk && html`${meter(full, `disk of ${node.name}: ${percent(full ?? 0)}`, 'load')}<small data-of="disk">${size(disk.free)} free</small>`}
    </td>
    <td data-name="GPUs">${gpuCells(node)}</td>
    <td data-name="runs">${links}${mine.length > 2 && html`<small>and ${mine.length - 2} more</small>`}</td>
  </tr>`
}

function gpuCells(node: PageNode): Html {
  const unshared = Math.max(0, node.gpuCount - node.gpus.length)
  const reserved = node.reserved.filter((one) => one.state !== 'waiting')
  const who = reserved.map((one) => one.owner).join(', ')
  return html`<span class="gpus"
    >${node.gpus.map((one) => gpuCell(node.name, one))}${Array.from({length: unshared}, (_, index) => {
      const held = reserved.length > 0 && index < Math.max(1, ...reserved.map((one) => one.gpus))
      return html`<span
        class="gpu unshared${held ? ' taken' : ''}"
        title="${held ? `reserved by ${who}` : 'not shared: flexrack gpu serve'}"
        ><b>${held ? initials(who) : '–'}</b></span
      >`
    })}</span
  >`
}

/** Filled by memory, marked by how busy it is, hatched where it is used from another machine; who has it, in two letters. */
function gpuCell(node: string, gpu: PageGpu): Html {
  const used = gpu.used / Math.max(1, gpu.memory)
  const isFree = !gpu.whole && gpu.holders.length === 0
  const from = gpu.holders.flatMap((one) => one.from ?? [])
  const told = [
    `${node}:${gpu.index} ${gpu.name}`,
    `${size(gpu.used)} of ${size(gpu.memory)}`,
    `${percent(gpu.busy)} busy`,
    ...gpu.holders.map(({owner, purpose, share, from: place}) => {
      const whose = purpose === '' ? owner : `${owner} (${purpose})`
      return `${whose} has ${percent(share)}${place === null ? '' : `, used from ${place}`}`
    }),
    ...(isFree ? ['free'] : []),
  ].join('\n')
  const kind = [
    isFree ? 'free' : 'taken',
    from.length > 0 ? 'remote' : '',
    !isFree && gpu.busy < IDLE_SHARE ? 'idle' : '',
  ]
  return html`<span class="gpu ${kind.filter(Boolean).join(' ')}" role="img" title="${told}"
    ><svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
      <rect class="memory" y="${Math.round(100 - used * 100)}" width="100" height="${Math.round(used * 100)}" />
      <rect class="busy" y="94" width="${Math.round(gpu.busy * 100)}" height="6" /></svg
    ><b
      >${isFree ? 'free' : gpu.holders.length > 1 ? `×${gpu.holders.length}` : initials(gpu.holders[0]?.owner ?? '?')}</b
    >${!isFree && html`<small>${percent(gpu.busy)}</small>`}</span
  >`
}

/** What of an owner `name@machine` fits into a cell. */
function initials(owner: string): string {
  return owner.replace(/@.*/s, '').slice(0, 7) || '?'
}

function legend({nodes}: PageRack): Html | undefined {
  if (nodes.every((one) => one.gpus.length === 0)) return undefined
  return html`<p class="legend">
    <span><i class="key free"></i>free</span><span><i class="key taken"></i>leased; filled by memory</span
    ><span><i class="key remote"></i>used from another machine</span><span><i class="key line"></i>busy</span>
  </p>`
}

function goingOn(going: PageRun[], now: number): Html {
  const none = html`No run goes on. <a href="${address(['runs'])}">The runs there were</a>`
  return html`<section id="going" aria-labelledby="going-title">
    <h2 id="going-title">Going on</h2>
    ${tableOr(none, runHead(going), runRows(going, now))}
  </section>`
}

/** Who has how much, and below it every lease. */
function leases({leases: taken, nodes}: PageRack, now: number): Html {
  if (taken.length === 0) return html`<section id="leases"></section>`
  const gpus = new Map(nodes.flatMap((node) => node.gpus.map((gpu) => [`${node.name}:${gpu.index}`, gpu])))
  const users = [...Map.groupBy(taken, (one) => one.owner)].map(([owner, own]) => {
    const places = new Set(own.flatMap((one) => one.gpus.map((gpu) => `${one.node}:${gpu}`)))
    const idle = [...places].filter((one) => (gpus.get(one)?.busy ?? 1) < IDLE_SHARE).length
    const from = [...new Set(own.flatMap((one) => one.from ?? []))]
    return {owner, gpus: places.size, used: own.reduce((sum, one) => sum + one.used, 0), idle, from}
  })
  const people = users
    .toSorted((a, b) => b.gpus - a.gpus || a.owner.localeCompare(b.owner))
    .map(
      (one) =>
        html`<tr>
          <th scope="row">${one.owner}</th>
          <td class="number">${one.gpus}</td>
          <td class="number">${size(one.used)}</td>
          <td class="number">${one.idle > 0 ? html`<span class="raised">${one.idle}</span>` : 'none'}</td>
          <td>${one.from.length === 0 ? 'no' : one.from.join(', ')}</td>
        </tr>`,
    )
  const rows = taken.map(
    (one) =>
      html`<tr>
        <td><code>${one.lease.slice(0, 8)}</code></td>
        <td>${one.owner}</td>
        <td>${one.node}:${one.gpus.join(',')}</td>
        <td>${one.from ?? 'its node'}</td>
        <td class="number">${size(one.used)}</td>
        <td>${one.purpose}</td>
        <td>${state(one.state)}</td>
        <td class="number">${ago(one.created, now)}</td>
      </tr>`,
  )
  return html`<section id="leases" aria-labelledby="leases-title">
    <h2 id="leases-title">Who has GPUs</h2>
    ${table(['owner', 'GPUs', 'memory used', 'idle', 'used from elsewhere'], people)}
    <details>
      <summary>${taken.length === 1 ? 'the lease' : `all ${taken.length} leases`}</summary>
      ${table(['lease', 'owner', 'GPUs', 'used from', 'memory', 'for', 'state', 'since'], rows)}
    </details>
  </section>`
}
