import type {GpuFact, MachineFacts} from '../protocol/index.ts'
import {parseLink} from './link.ts'
import {nearestNic, readNics} from './nics.ts'
import type {GpuPlace, Link, NicPlace, NumaPlace, Topology} from './types.ts'

/**
 * What hangs where on a machine and how far apart it is, from its facts. Pure; what the facts do not tell is null or
 * unknown, never guessed.
 */
export function readTopology(facts: MachineFacts): Topology {
  const numa = (facts.numa ?? [])
    .filter((node) => node.cpus !== '')
    .map(({node, socket, cpus, memory, free}) => ({
      node,
      socket: socket ?? null,
      cpus,
      memory: memory ?? null,
      free: free ?? null,
    }))
  const nics = readNics(facts).map((nic) => ({...nic, numaNode: nic.numaNode ?? onlyNode(numa)}))
  const placed = (facts.gpus ?? []).map((gpu) => placeGpu(gpu, facts, numa))
  const cell = cellsOf(facts)
  const nicLinks = nics.map((nic) =>
    placed.map((gpu) => settled(cell(nic.name, nameOf(gpu)), nic.numaNode, gpu.numaNode, numa)),
  )
  const links = placed.map((a) =>
    placed.map((b) => (a === b ? null : settled(cell(nameOf(a), nameOf(b)), a.numaNode, b.numaNode, numa))),
  )
  const gpus = placed.map((gpu, at) => ({
    ...gpu,
    nic: nearestNic(
      nics,
      nicLinks.map((row) => row[at] as Link),
    ),
  }))
  return {sockets: facts.cpu?.sockets ?? null, numa, gpus, nics, links, nicLinks, source: facts.links?.source ?? null}
}

/** Of two GPUs by their positions in topology.gpus; null for a GPU with itself or where there is none. */
export function linkBetween(topology: Topology, a: number, b: number): Link | null {
  return topology.links[a]?.[b] ?? null
}

function nameOf(gpu: {index: number}): string {
  return `GPU${gpu.index}`
}

/** The cell of two devices by name. */
function cellsOf({links}: MachineFacts): (a: string, b: string) => Link {
  const places = new Map(links?.devices.map((name, index) => [name, index]))
  return (a, b) => parseLink(links?.matrix[places.get(a) ?? -1]?.[places.get(b) ?? -1])
}

function placeGpu(gpu: GpuFact, facts: MachineFacts, numa: NumaPlace[]): GpuPlace {
  const reported = facts.links?.affinity[nameOf(gpu)]
  const numaNode =
    gpu.numa_node ?? reported?.numa_node ?? numa.find((node) => node.cpus === reported?.cpus)?.node ?? onlyNode(numa)
  return {
    index: gpu.index,
    uuid: gpu.uuid,
    name: gpu.name,
    memory: gpu.memory,
    free: gpu.free ?? null,
    bus: gpu.bus,
    numaNode,
    cpus: numa.find((node) => node.node === numaNode)?.cpus ?? reported?.cpus ?? null,
    nic: null,
    pcie: gpu.pcie ?? null,
    parts: gpu.mig?.length ?? 0,
  }
}

/** Firmware of one-socket machines often does not say where devices hang (numa_node is -1): there is one place only. */
function onlyNode(numa: NumaPlace[]): number | null {
  return numa.length === 1 ? (numa[0]?.node ?? null) : null
}

/**
 * nvidia-smi's SYS is across NUMA nodes: those of one socket (NPS4, sub-NUMA clusters) are nearer than the other
 * socket.
 */
function settled(link: Link, a: NicPlace['numaNode'], b: NicPlace['numaNode'], numa: NumaPlace[]): Link {
  if (link.kind !== 'system') return link
  const [first, second] = [a, b].map((node) => numa.find((one) => one.node === node)?.socket ?? null)
  return first !== null && first === second ? {kind: 'socket'} : link
}
