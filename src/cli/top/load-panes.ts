import type {EndpointLoad, LoadFigures, LoadReport, ServerGpu} from '../../lib/endpoint/index.ts'
import {paint} from '../terminal/print.ts'
import type {Column} from '../terminal/render.ts'
import {gpuText, leaseText} from '../endpoint/gpu-text.ts'
import {inLines, type Pane, type PaneRow} from './panes.ts'

export const LOAD_PANES = ['endpoints', 'releases', 'clients', 'servers'] as const
const FIGURES = ['requests', 'errors', 'p50', 'p95', 'p99', 'tokens', 'first'] as const

/** What endpoints do, a pane a kind of who does it. Pure. */
export function loadPanes({endpoints}: LoadReport): Pane[] {
  return [endpointsPane, releasesPane, clientsPane, serversPane].map((pane) => inLines(pane(endpoints)))
}

function endpointsPane(endpoints: EndpointLoad[]): Pane {
  const rows = endpoints.map((one): PaneRow => {
    const gpus = one.servers.flatMap((server) => server.gpus)
    const figures = figuresOf(one)
    return {
      id: one.name,
      cells: {
        endpoint: one.name,
        state: one.state === 'failing' ? paint.red(one.state) : one.state,
        ...figures.cells,
        waiting: one.queued === 0 && one.waitP50 === null ? '' : `${one.queued} (${milliseconds(one.waitP50)})`,
        batch: one.batch === null ? '' : String(one.batch),
        gpu: gpuText(gpus),
      },
      values: {...figures.values, endpoint: one.name, waiting: one.queued, gpu: busiest(gpus)},
    }
  })
  return {
    name: 'endpoints',
    columns: columns(rows, ['endpoint', 'state'], [...FIGURES, 'in flight', 'waiting', 'batch'], ['gpu']),
    sorts: ['requests', 'errors', 'p50', 'p95', 'p99', 'tokens', 'first', 'waiting', 'gpu', 'endpoint'],
    rows,
  }
}

function releasesPane(endpoints: EndpointLoad[]): Pane {
  const rows = endpoints.flatMap(({name, releases}) =>
    releases.map((one): PaneRow => {
      const figures = figuresOf(one)
      const release = `${name} ${one.release}`
      return {
        id: release,
        cells: {
          release,
          share: `${one.percent} %`,
          ...figures.cells,
          batch: one.batch === null ? '' : String(one.batch),
        },
        values: {...figures.values, release},
      }
    }),
  )
  return {
    name: 'releases',
    columns: columns(rows, ['release'], ['share', ...FIGURES, 'in flight', 'batch']),
    sorts: [...FIGURES, 'release'],
    rows,
  }
}

function clientsPane(endpoints: EndpointLoad[]): Pane {
  const rows = endpoints.flatMap(({name, clients}) =>
    clients.map((one): PaneRow => {
      const figures = figuresOf(one)
      return {
        id: `${name} ${one.client}`,
        cells: {
          client: one.client === '' ? paint.dim("the endpoint's token") : one.client,
          endpoint: name,
          ...figures.cells,
          limited: one.limited > 0 ? `${one.limited}/s` : '',
        },
        values: {...figures.values, client: one.client},
      }
    }),
  )
  return {
    name: 'clients',
    columns: columns(rows, ['client', 'endpoint'], [...FIGURES, 'in flight', 'limited']),
    sorts: [...FIGURES, 'client'],
    rows,
  }
}

function serversPane(endpoints: EndpointLoad[]): Pane {
  const rows = endpoints.flatMap(({servers}) =>
    servers.map((one): PaneRow => ({
      id: one.server,
      cells: {
        server: one.server,
        node: one.node,
        requests: `${one.requests}/s`,
        'in flight': String(one.inFlight),
        gpu: gpuText(one.gpus),
        memory: leaseText(one.gpus),
      },
      values: {server: one.server, requests: one.requests, gpu: busiest(one.gpus)},
    })),
  )
  return {
    name: 'servers',
    columns: columns(rows, ['server', 'node'], ['requests', 'in flight'], ['gpu', 'memory']),
    sorts: ['requests', 'gpu', 'server'],
    rows,
  }
}

function figuresOf(one: LoadFigures): Pick<PaneRow, 'cells' | 'values'> {
  const {requests, failed, inFlight, p50, p95, p99, tokens, firstP50} = one
  return {
    cells: {
      requests: `${requests}/s`,
      errors: failed === 0 ? '' : paint.red(`${failed}/s`),
      p50: milliseconds(p50),
      p95: milliseconds(p95),
      p99: milliseconds(p99),
      tokens: tokens === 0 ? '' : `${tokens}/s`,
      first: firstP50 === null ? '' : milliseconds(firstP50),
      'in flight': String(inFlight),
    },
    values: {
      requests,
      errors: failed,
      p50: p50 ?? -1,
      p95: p95 ?? -1,
      p99: p99 ?? -1,
      tokens,
      first: firstP50 ?? -1,
    },
  }
}

/** Only what any line has. */
function columns(rows: PaneRow[], names: string[], numbers: string[], texts: string[] = []): (string | Column)[] {
  const some = (key: string): boolean => rows.some((row) => row.cells[key] !== undefined && row.cells[key] !== '')
  return [...names, ...numbers.filter(some).map((key) => ({key, align: 'right' as const})), ...texts.filter(some)]
}

function busiest(gpus: readonly ServerGpu[]): number {
  return Math.max(-1, ...gpus.map(({busy}) => busy))
}

function milliseconds(value: number | null): string {
  return value === null ? '-' : `${value} ms`
}
