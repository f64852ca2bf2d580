import type {Link, LinkKind, Topology} from '../../../src/lib/topology/index.ts'
import type {Candidate, Held, PlacementRequest} from '../../../src/lib/placement/index.ts'

/** Numbers that look random and are the same for a seed: Mulberry32, public domain. */
export function random(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** A node whose GPUs have these links. `numa`: of each GPU, and so many CPUs each. */
export function nodeOf(
  node: string,
  links: (Link | null)[][],
  parts: Partial<Candidate> & {numa?: (number | null)[]; uuids?: string[]; numaNodes?: number} = {},
): Candidate {
  const {numa = [], uuids, numaNodes = 2, ...rest} = parts
  const topology: Topology = {
    sockets: numaNodes,
    numa: Array.from({length: numaNodes}, (_, one) => ({
      node: one,
      socket: one,
      cpus: `${one * 4}-${one * 4 + 3}`,
      memory: 2 ** 34,
      free: 2 ** 33,
    })),
    gpus: links.map((_, index) => ({
      index,
      uuid: uuids?.[index] ?? `${node}-${index}`,
      name: 'A GPU',
      memory: 2 ** 34,
      free: 2 ** 34,
      bus: '',
      numaNode: numa[index] ?? null,
      cpus: null,
      nic: {name: `mlx5_${numa[index] ?? 0}`, netdev: null, link: {kind: 'switch'}},
      pcie: null,
      parts: 0,
    })),
    nics: [],
    links,
    nicLinks: [],
    source: 'nvidia-smi',
  }
  return {node, problem: null, topology, allowed: null, routes: {}, held: [], busy: {}, ...rest}
}

/** GPUs in islands of equal size: within one `near`, between them `far`. */
export function islands(count: number, size: number, near: Link, far: Link): (Link | null)[][] {
  return Array.from({length: count}, (_, a) =>
    Array.from({length: count}, (_, b) =>
      a === b ? null : Math.floor(a / size) === Math.floor(b / size) ? near : far,
    ),
  )
}

const KINDS: LinkKind[] = ['nvlink', 'switch', 'switches', 'bridge', 'socket', 'system', 'unknown']

/**
 * A rack of up to five nodes with up to eight GPUs each, some of them one machine, some taken, some out of the
 * question; and a request.
 */
export function randomRack(seed: number): {request: PlacementRequest; candidates: Candidate[]} {
  const pick = random(seed)
  const candidates: Candidate[] = []
  for (let index = 0; index <= pick(5); index++) {
    const before = candidates.at(-1)
    const twin = before !== undefined && pick(6) === 0
    const gpus = twin ? (before.topology?.gpus.length ?? 0) : pick(9)
    const links = twin ? (before.topology as Topology).links : randomLinks(gpus, pick)
    const uuids = twin ? before.topology?.gpus.map((one) => one.uuid) : undefined
    const numa = links.map(() => [null, 0, 1, 2][pick(4)] ?? null)
    const node = nodeOf(`n${index}`, links, {numa, numaNodes: 1 + pick(3), ...(uuids && {uuids})})
    const uuidsNow = (node.topology?.gpus ?? []).map((one) => one.uuid)
    // GPUs are reserved machine-wide: two nodes of one machine are told the same.
    const [theirs = null] = twin ? before.held : pick(2) === 0 ? [] : [{gpus: uuidsNow.filter(() => pick(3) === 0)}]
    const held: Held[] =
      theirs === null ? [] : [{by: 'other', gpus: theirs.gpus, exclusive: pick(8) === 0, here: pick(8) > 0}]
    const busy = twin
      ? before.busy
      : Object.fromEntries(uuidsNow.filter(() => pick(12) === 0).map((uuid) => [uuid, 'busy']))
    candidates.push({
      ...node,
      held,
      busy,
      allowed: pick(4) === 0 ? '0-5' : null,
      problem: pick(10) === 0 ? 'it does not answer' : null,
    })
  }
  return {
    request: {nodes: 1 + pick(3), processes: 1 + pick(4), gpusPerRank: pick(3), exclusive: pick(5) === 0},
    candidates,
  }
}

function randomLinks(count: number, pick: (below: number) => number): (Link | null)[][] {
  const links: (Link | null)[][] = Array.from({length: count}, () => Array.from({length: count}, () => null))
  const kinds = 1 + pick(KINDS.length)
  for (let a = 0; a < count; a++) {
    for (let b = 0; b < a; b++) {
      const kind = KINDS[pick(kinds)] as LinkKind
      const link: Link = kind === 'nvlink' ? {kind, count: 1 + pick(4)} : {kind}
      ;(links[a] as (Link | null)[])[b] = link
      ;(links[b] as (Link | null)[])[a] = link
    }
  }
  return links
}
