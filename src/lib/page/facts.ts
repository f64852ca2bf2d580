import {isLoopback} from '../base/index.ts'
import type {PageGpu, PageLease, PageNode, PageRack, PageRun} from '../head/index.ts'
import {busyShare, type Overview} from '../overview/index.ts'
import {describeCause, type RunEntry} from '../runs/index.ts'

/** What the page shows of a look at the rack. `before`: the last look, which tells how busy processors were since. Pure. */
export function rackFacts(now: Overview, before: Overview | undefined, at: number): PageRack {
  const holders = new Map(now.shared.leases.map((one) => [one.lease, one]))
  const own = new Map(now.nodes.map((one) => [one.node, one.host]))
  const fromOf = (node: string, holder: string | null | undefined): string | null => elsewhere(holder, own.get(node))
  return {
    rack: now.rack,
    at,
    nodes: now.nodes.map((node): PageNode => {
      const {cores, load, memory, disk} = node
      return {
        name: node.node,
        host: node.host,
        ok: node.ok,
        gone: node.gone,
        message: node.ok ? null : (node.message ?? node.code ?? null),
        cores,
        load,
        busy: busyShare(
          node,
          before?.nodes.find((one) => one.node === node.node),
        ),
        memory: memory && {used: memory.total - memory.available, total: memory.total},
        disk,
        gpuCount: node.gpus,
        gpus: now.shared.devices
          .filter((one) => one.node === node.node)
          .map((one): PageGpu => {
            const {index, name, used, whole} = one
            return {
              index,
              name,
              used,
              whole,
              memory: one.memory,
              busy: one.utilisation,
              holders: one.holders.map(({owner, purpose, lease, memory: had, whole: all}) => ({
                owner,
                purpose,
                lease,
                share: all ? 1 : had / Math.max(1, one.memory),
                from: fromOf(one.node, holders.get(lease)?.holder),
              })),
            }
          }),
        reserved: now.reservations
          .filter((one) => one.at === node.node && one.here)
          .map(({owner, state, wants}) => ({owner, state, gpus: wants.gpus.length})),
      }
    }),
    runs: now.runs.map(runFacts),
    leases: now.shared.leases.map((one): PageLease => {
      const {lease, node, owner, purpose, state, holder, created} = one
      return {
        lease,
        node,
        owner,
        purpose,
        state,
        from: fromOf(node, holder),
        gpus: one.devices.map(({index}) => index),
        used: one.devices.reduce((sum, {used}) => sum + used, 0),
        created: created * 1000,
      }
    }),
    unknown: now.unknown.map(({part, message}) => `${part}: ${message}`),
  }
}

export function runFacts(run: RunEntry): PageRun {
  const {project, user, status, nodes, worldSize, started, ended, attempt, sweep, metrics} = run
  return {
    run: run.run,
    project,
    user,
    status,
    nodes,
    worldSize,
    started,
    ended,
    attempt,
    sweep,
    metrics,
    cause: run.cause ? describeCause(run.cause) : (run.doubt?.message ?? null),
    tracked: run.trackedId,
  }
}

/** The machine that a lease is used from, where that is not the GPU's own: `192.0.2.7:41234` of another address. */
function elsewhere(holder: string | null | undefined, host: string | undefined): string | null {
  const address = holder?.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  if (!address || !/^[\d.]+$|:/.test(address)) return null
  return isLoopback(address) || address === host ? null : address
}
