import {sizeText} from '../../lib/base/index.ts'
import {busyShare, type Overview} from '../../lib/overview/index.ts'
import {percent, shareText} from '../gpu/text.ts'
import {isOpen, statusText} from '../runs/text.ts'
import {paint} from '../terminal/print.ts'
import {oneLine} from '../terminal/printable.ts'
import {bar, duration, type Column} from '../terminal/render.ts'

export const PANES = ['nodes', 'gpus', 'runs', 'leases', 'endpoints'] as const

/** A line that can be chosen. */
export interface PaneRow {
  /** Name of the node, id of the run or lease, name of the endpoint: what a key acts on. */
  id: string
  cells: Record<string, string>
  /** What the columns of `sorts` compare. */
  values: Record<string, number | string>
  /** Of a run: it goes on, or will, and can be stopped. */
  isOpen?: boolean
}

export interface Pane {
  name: string
  /** Default: its name. */
  title?: string
  columns: (string | Column)[]
  /** By which it can be sorted; the first one holds until another is chosen. */
  sorts: readonly string[]
  rows: PaneRow[]
}

const BAR = 10

/** What the rack does, a pane a kind of thing. `before`: an earlier look, which tells how busy processors were since. Pure. */
export function panesOf(now: Overview, before: Overview | undefined, clock: number): Pane[] {
  const panes = [
    nodesPane(now, before),
    gpusPane(now),
    runsPane(now, clock),
    leasesPane(now, clock),
    endpointsPane(now),
  ]
  return panes.map(inLines)
}

function nodesPane({nodes, runs, shared}: Overview, before: Overview | undefined): Pane {
  const rows = nodes.map((node): PaneRow => {
    const busy = busyShare(
      node,
      before?.nodes.find((one) => one.node === node.node),
    )
    const used = node.memory && (node.memory.total - node.memory.available) / Math.max(1, node.memory.total)
    const devices = shared.devices.filter((one) => one.node === node.node)
    const taken = devices.filter((one) => one.whole || one.holders.length > 0).length
    const active = runs.filter((one) => isOpen(one) && one.nodes.includes(node.node)).length
    return {
      id: node.node,
      cells: {
        node: node.node,
        state: node.ok ? paint.green('ok') : node.gone ? paint.dim('gone') : paint.red(node.code ?? 'failed'),
        cpu: busy === null ? '' : `${bar(busy, 0, BAR)} ${percent(busy).padStart(5)}`,
        load: node.load === null ? '' : `${node.load.toFixed(1)} of ${node.cores ?? '?'}`,
        memory: node.memory
          ? `${bar(used ?? 0, 0, BAR)} ${sizeText(node.memory.total - node.memory.available)} of ${sizeText(node.memory.total)}`
          : '',
        disk: node.disk ? `${sizeText(node.disk.free)} free` : '',
        gpus: devices.length > 0 ? `${taken} of ${devices.length} leased` : node.gpus > 0 ? String(node.gpus) : '',
        runs: active > 0 ? String(active) : '',
      },
      values: {
        node: node.node,
        cpu: busy ?? -1,
        memory: used ?? -1,
        load: node.load ?? -1,
        disk: -(node.disk?.free ?? Infinity),
      },
    }
  })
  const right = (key: string): Column => ({key, align: 'right'})
  const columns = ['node', 'state', 'cpu', {...right('load'), spare: true}, 'memory', {...right('disk'), spare: true}]
  const some = (key: string): boolean => rows.some((row) => row.cells[key])
  return {
    name: 'nodes',
    columns: [...columns, ...['gpus', 'runs'].filter(some).map((key) => right(key))],
    sorts: ['node', 'cpu', 'memory', 'load', 'disk'],
    rows,
  }
}

function gpusPane({shared}: Overview): Pane {
  const rows = shared.devices.map((device): PaneRow => {
    const leased = device.whole ? 1 : 1 - device.free.memory / Math.max(1, device.memory)
    const who = device.holders.map((one) => `${one.owner}${one.purpose === '' ? '' : ` (${one.purpose})`}`)
    return {
      id: `${device.node}:${device.index}`,
      cells: {
        gpu: `${device.node}:${device.index}`,
        name: device.name,
        memory: `${bar(device.used / Math.max(1, device.memory), leased, BAR)} ${sizeText(device.used)} of ${sizeText(device.memory)}`,
        busy: `${bar(device.utilisation, 0, BAR)} ${percent(device.utilisation).padStart(5)}`,
        holders: who.join(', ') || paint.dim('nobody'),
      },
      values: {
        gpu: `${device.node}:${String(device.index).padStart(4, '0')}`,
        busy: device.utilisation,
        memory: device.used,
        holders: who.join(', '),
      },
    }
  })
  return {
    name: 'gpus',
    title: 'shared GPUs',
    columns: ['gpu', {key: 'name', spare: true}, 'memory', 'busy', 'holders'],
    sorts: ['gpu', 'busy', 'memory', 'holders'],
    rows,
  }
}

function runsPane({runs}: Overview, clock: number): Pane {
  const rows = runs.map((run): PaneRow => {
    const took = run.started === null ? null : (run.ended ?? (isOpen(run) ? clock : run.started)) - run.started
    return {
      id: run.run,
      isOpen: isOpen(run),
      cells: {
        run: run.run,
        status: statusText(run.status),
        time: took === null ? '' : duration(took),
        ranks: run.worldSize === null ? '' : String(run.worldSize),
        attempt: run.attempt !== null && run.attempt > 1 ? String(run.attempt) : '',
        nodes: run.nodes.join(','),
        reason: run.slurm?.reason ?? '',
      },
      values: {
        // What goes on first, then the newest.
        status: `${isOpen(run) ? 0 : 1}`,
        run: run.run,
        time: took ?? -1,
        ranks: run.worldSize ?? -1,
      },
    }
  })
  const reason = rows.some((row) => row.cells.reason !== '') ? [{key: 'reason', spare: true}] : []
  const attempt = rows.some((row) => row.cells.attempt !== '') ? [{key: 'attempt', align: 'right' as const}] : []
  return {
    name: 'runs',
    columns: [
      'run',
      'status',
      {key: 'time', align: 'right'},
      {key: 'ranks', align: 'right'},
      ...attempt,
      {key: 'nodes', spare: true},
      ...reason,
    ],
    sorts: ['status', 'time', 'ranks', 'run'],
    rows,
  }
}

function leasesPane({shared}: Overview, clock: number): Pane {
  const rows = shared.leases.map((lease): PaneRow => {
    const used = lease.devices.reduce((sum, one) => sum + one.used, 0)
    return {
      id: lease.lease,
      cells: {
        lease: lease.lease.slice(0, 8),
        node: lease.node,
        gpus: lease.devices.map((one) => one.index).join(','),
        share: shareText(lease),
        used: sizeText(used),
        owner: lease.owner,
        purpose: lease.purpose,
        state: lease.state === 'held' ? `${lease.programs} running` : paint.yellow(lease.state),
        age: duration(Math.max(0, clock - lease.created * 1000)),
      },
      values: {lease: lease.lease, owner: lease.owner, used, age: clock / 1000 - lease.created},
    }
  })
  return {
    name: 'leases',
    columns: [
      'lease',
      'node',
      'gpus',
      'share',
      {key: 'used', align: 'right'},
      'owner',
      {key: 'purpose', spare: true},
      'state',
      {key: 'age', align: 'right', spare: true},
    ],
    sorts: ['age', 'used', 'owner'],
    rows,
  }
}

function endpointsPane({endpoints}: Overview): Pane {
  const colour = {
    serving: paint.green,
    asleep: paint.dim,
    waking: paint.yellow,
    failing: paint.red,
    changing: paint.yellow,
    down: paint.dim,
  }
  const rows = endpoints.map((one): PaneRow => ({
    id: one.name,
    cells: {
      endpoint: one.name,
      state: (colour[one.state] ?? paint.yellow)(one.state),
      model: one.model ?? '',
      release: one.release ?? '',
      servers: String(one.replicas),
      canary: one.canary ? one.canary.release : '',
    },
    values: {endpoint: one.name, state: one.state, servers: one.replicas},
  }))
  const canary = rows.some((row) => row.cells.canary !== '') ? ['canary'] : []
  return {
    name: 'endpoints',
    columns: ['endpoint', 'state', 'model', 'release', {key: 'servers', align: 'right'}, ...canary],
    sorts: ['endpoint', 'state', 'servers'],
    rows,
  }
}

/** Others name things as they like, and a line that breaks would move all below it. */
export function inLines(pane: Pane): Pane {
  const inOneLine = (cells: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(cells).map(([key, cell]) => [key, oneLine(cell)]))
  return {...pane, rows: pane.rows.map((row) => ({...row, cells: inOneLine(row.cells)}))}
}
