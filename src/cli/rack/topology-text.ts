import {count, sizeText} from '../../lib/base/index.ts'
import type {NodeReport, NodeTopology} from '../../lib/nodes/index.ts'
import {linkText, type BadWiring, type NicPlace, type Topology} from '../../lib/topology/index.ts'
import {paint} from '../terminal/print.ts'
import {gpuText, modelText} from './probe-text.ts'
import {table, visibleWidth} from '../terminal/render.ts'

/** Of nvidia-smi's words, from the best link. */
const MEANINGS: readonly (readonly [word: RegExp, meaning: string])[] = [
  [/^NV\d/, 'NV#: that many NVLinks'],
  [/^PIX/, 'PIX: below one PCIe switch'],
  [/^PXB/, 'PXB: below several PCIe switches'],
  [/^PHB/, 'PHB: on one host bridge'],
  [/^NODE/, 'NODE: at one socket'],
  [/^SYS/, 'SYS: across NUMA nodes'],
  [/^\?/, '?: not known'],
  [/\*$/, '*: the nearest NIC'],
]

interface Row {
  name: string
  cells: string[]
  node: number | null
  what: string
}

/**
 * How nodes are wired: NUMA nodes, a matrix of GPUs and NICs, and what is badly wired. Lines fit the screen, or 80
 * columns in a pipe.
 */
export function topologiesText(reports: NodeReport<NodeTopology>[], width = process.stdout.columns ?? 80): string {
  return reports
    .flatMap(({node, value}) => (value ? [topologyText(node, value, Math.max(60, width))] : []))
    .join('\n\n')
}

function topologyText(node: string, {topology, findings}: NodeTopology, width: number): string {
  const {gpus, nics, numa, sockets, source} = topology
  const parts = [
    ...(sockets ? [count(sockets, 'socket')] : []),
    ...(numa.length > 0 ? [count(numa.length, 'NUMA node')] : []),
    gpuText(topology) || 'no GPU',
    count(nics.length, 'NIC'),
  ]
  const unseen =
    source === 'sysfs' && gpus.length > 1
      ? ['From the paths of PCI devices, where NVLink is not to be seen: nvidia-smi gave no matrix.']
      : []
  const sections = [
    `${paint.bold(node)}: ${parts.join(', ')}`,
    numaTable(topology, width),
    ...matrix(topology, width),
    ...unseen,
    findingsText(findings, width),
  ]
  return sections.filter((section) => section !== '').join('\n\n')
}

function numaTable({numa, gpus, nics}: Topology, width: number): string {
  const rows = numa.map((one) => ({
    numa: String(one.node),
    socket: one.socket === null ? undefined : String(one.socket),
    cpus: cut(one.cpus, 24),
    memory: one.memory === null ? undefined : sizeText(one.memory),
    gpus: runs(gpus.filter((gpu) => gpu.numaNode === one.node).map((gpu) => `GPU${gpu.index}`)) || ' ',
    nics: cut(runs(nics.filter((nic) => nic.numaNode === one.node).map((nic) => nic.name)) || ' ', 24),
  }))
  return table(
    rows,
    ['numa', {key: 'socket', spare: true}, 'cpus', {key: 'memory', align: 'right'}, 'gpus', 'nics'],
    width,
  )
}

/** Rows: GPUs, then NICs. Columns: GPUs, in as many blocks as the width needs. */
function matrix(topology: Topology, width: number): string[] {
  const {gpus, nics, links, nicLinks} = topology
  const alike = new Set(gpus.map((gpu) => gpu.name)).size < 2
  const rows: Row[] = [
    ...gpus.map((gpu, at) => ({
      name: `GPU${gpu.index}`,
      cells: gpus.map((_, other) => (at === other ? '·' : linkText(links[at]?.[other] ?? {kind: 'unknown'}))),
      node: gpu.numaNode,
      what: gpuWhat(gpu, alike),
    })),
    ...nics.map((nic, at) => ({
      name: nic.name,
      cells: gpus.map(
        (gpu, other) =>
          `${linkText(nicLinks[at]?.[other] ?? {kind: 'unknown'})}${gpu.nic?.name === nic.name ? '*' : ''}`,
      ),
      node: nic.numaNode,
      what: nicWhat(nic),
    })),
  ]
  if (rows.length === 0) return []
  const name = Math.max(...rows.map((row) => row.name.length))
  const cell = Math.max(4, ...rows.flatMap((row) => row.cells.map((one) => one.length))) + 1
  const fit = Math.max(1, Math.floor((width - name - 8) / cell))
  const number = Math.max(1, Math.ceil(gpus.length / fit))
  const each = Math.ceil(gpus.length / number)
  const positions = gpus.map((_, at) => at)
  const blocks = Array.from({length: number}, (_, at) => positions.slice(at * each, (at + 1) * each))
  const words = rows.flatMap((row) => row.cells)
  const legend = MEANINGS.filter(([word]) => words.some((one) => word.test(one))).map(([, meaning]) => meaning)
  return [
    ...blocks.map((columns) => block(rows, columns, topology, {name, cell, width})),
    wrap(legend.join('; '), width, ''),
  ]
}

function block(
  rows: Row[],
  columns: number[],
  {gpus}: Topology,
  {name, cell, width}: {name: number; cell: number; width: number},
): string {
  const head = `${' '.repeat(name + 2)}${columns.map((at) => `GPU${gpus[at]?.index}`.padEnd(cell)).join('')}NUMA`
  const lines = rows.map((row) => {
    const cells = columns.map((at) => painted((row.cells[at] ?? '').padEnd(cell))).join('')
    const start = `${row.name.padEnd(name + 2)}${cells}${(row.node === null ? '?' : String(row.node)).padEnd(4)}`
    const room = width - visibleWidth(start) - 2
    return `${start}${room >= 8 ? `  ${cut(row.what, room)}` : ''}`.trimEnd()
  })
  return [paint.dim(head.trimEnd()), ...lines].join('\n')
}

/** The far ends of the scale stand out; without colours the words do. */
function painted(cell: string): string {
  if (cell.startsWith('NV')) return paint.green(cell)
  if (cell.startsWith('SYS*')) return paint.red(cell)
  return cell.includes('*') ? paint.bold(cell) : cell
}

function gpuWhat({name, memory, parts, pcie}: Topology['gpus'][number], alike: boolean): string {
  return [
    alike ? '' : modelText(name),
    memory === null ? '' : sizeText(memory),
    parts > 0 ? `in ${count(parts, 'part')}` : '',
    pcie ? `x${pcie.width}` : '',
  ]
    .filter(Boolean)
    .join(', ')
}

function nicWhat({kind, up, speed, netdev, name}: NicPlace): string {
  const words = {infiniband: 'InfiniBand', roce: 'RoCE', ethernet: 'Ethernet', unknown: ''}[kind]
  return [words, speed === null ? '' : `${speed}G`, up === false ? 'down' : '', netdev && netdev !== name ? netdev : '']
    .filter(Boolean)
    .join(', ')
}

function findingsText(findings: BadWiring[], width: number): string {
  if (findings.length === 0) return ''
  return [paint.yellow('Badly wired:'), ...findings.map(({text, why}) => wrap(`- ${text} ${why}`, width, '  '))].join(
    '\n',
  )
}

/** Names that differ in their last number, as runs: `GPU0-3 GPU6`, `mlx5_0-1 eth0`. */
function runs(names: string[]): string {
  const found: {stem: string; first: number; last: number; text: string}[] = []
  for (const text of names) {
    const [, stem = text, digits] = /^(.*?)(\d+)$/.exec(text) ?? []
    const last = found.at(-1)
    if (digits !== undefined && last?.stem === stem && last.last + 1 === Number(digits)) last.last++
    else found.push({stem, first: Number(digits ?? -1), last: Number(digits ?? -1), text})
  }
  return found.map(({text, first, last}) => (first === last ? text : `${text}-${last}`)).join(' ')
}

function wrap(text: string, width: number, indent: string): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string
    if (line.trim() !== '' && line.length + word.length + 1 > width) lines.push(`${indent}${word}`)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.join('\n')
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
}
