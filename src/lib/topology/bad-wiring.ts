import type {MachineFacts} from '../protocol/index.ts'
import {parseCpus} from './cpus.ts'
import type {BadWiring, GpuPlace, NicPlace, Topology} from './types.ts'

/** What is badly wired, the worst first. `allowed`: CPUs that the user's programs may use, where that is known. */
export function findBadWiring(topology: Topology, allowed?: NonNullable<MachineFacts['cpu']>['allowed']): BadWiring[] {
  return [
    ...farNics(topology),
    ...farMemory(topology),
    ...farCpus(topology, allowed),
    ...narrowLinks(topology),
    ...slowNics(topology),
    ...unlikeGpus(topology),
    ...emptyNodes(topology),
  ]
}

function farNics({gpus}: Topology): BadWiring[] {
  const far = gpus.filter((gpu) => gpu.nic?.link.kind === 'system')
  return groupBy(far, (gpu) => gpu.nic?.name ?? '').map(([nic, group]) => ({
    kind: 'far-nic' as const,
    subjects: group.map(gpuName),
    text: `${gpuNames(group)}: the nearest NIC, ${nic}, is on another NUMA node.`,
    why: 'All that these GPUs exchange with other nodes crosses the link between the processors, and GPUDirect RDMA is slow or switched off there.',
  }))
}

function farMemory({gpus, numa}: Topology): BadWiring[] {
  const empty = new Set(numa.filter((node) => node.memory === 0).map((node) => node.node))
  const far = gpus.filter((gpu) => gpu.numaNode !== null && empty.has(gpu.numaNode))
  return groupBy(far, (gpu) => String(gpu.numaNode)).map(([node, group]) => ({
    kind: 'far-memory' as const,
    subjects: group.map(gpuName),
    text: `${gpuNames(group)}: NUMA node ${node}, where ${group.length === 1 ? 'it hangs' : 'they hang'}, has no memory.`,
    why: 'Every batch is copied from memory of another node, through the link that the processors share.',
  }))
}

function farCpus({gpus}: Topology, allowed: string | undefined): BadWiring[] {
  if (allowed === undefined) return []
  const mine = new Set(parseCpus(allowed))
  const far = gpus.filter((gpu) => gpu.cpus !== null && !parseCpus(gpu.cpus).some((cpu) => mine.has(cpu)))
  if (far.length === 0) return []
  return [
    {
      kind: 'far-cpus',
      subjects: far.map(gpuName),
      text: `${gpuNames(far)}: none of the CPUs beside ${far.length === 1 ? 'it' : 'them'} may be used here, only ${allowed}.`,
      why: 'Data loaders run at the other end of the machine and launches take longer.',
    },
  ]
}

function narrowLinks({gpus, nics}: Topology): BadWiring[] {
  const used = nics.filter((nic) => nic.up !== false)
  const devices = [
    ...gpus.map((gpu) => ({name: gpuName(gpu), pcie: gpu.pcie})),
    ...used.map((nic) => ({name: nic.name, pcie: nic.pcie})),
  ]
  return devices.flatMap(({name, pcie}) =>
    pcie === null || pcie.width >= pcie.max_width
      ? []
      : [
          {
            kind: 'narrow-pcie' as const,
            subjects: [name],
            text: `${name} runs at ${pcie.width} of its ${pcie.max_width} PCIe lanes.`,
            why: 'Copies to and from it have that share of their bandwidth: a narrower slot, a riser, or a card that does not sit firmly.',
          },
        ],
  )
}

function slowNics({nics}: Topology): BadWiring[] {
  const fastest = Math.max(0, ...nics.map((nic) => (nic.up === false ? 0 : (nic.speed ?? 0))))
  return nics.flatMap((nic) => {
    const most = fastestAlike(nic, nics)
    if (nic.up === false || nic.speed === null || most === null || nic.speed >= most.speed) return []
    // A card that could do more and is there for administration, beside a faster one, holds nobody back.
    if (nic.kind === 'ethernet' && nic.speed < fastest) return []
    return [
      {
        kind: 'slow-nic' as const,
        subjects: [nic.name],
        text: `${nic.name} runs at ${nic.speed} Gbit/s; ${most.who} ${most.speed}.`,
        why: 'A gang waits for its slowest link: the cable, the port of the switch, or a setting there holds all nodes back.',
      },
    ]
  })
}

/** What the card could do by itself; else what the best card of the same model does beside it. */
function fastestAlike(nic: NicPlace, nics: NicPlace[]): {speed: number; who: string} | null {
  if (nic.maxSpeed !== null) return {speed: nic.maxSpeed, who: 'the card is made for'}
  if (nic.type === null) return null
  const [best] = nics
    .filter((one) => one.type === nic.type && one.kind === nic.kind && one.up !== false)
    .toSorted((a, b) => (b.speed ?? 0) - (a.speed ?? 0))
  return best === undefined || best.speed === null
    ? null
    : {speed: best.speed, who: `${best.name}, a card of the same model, at`}
}

function unlikeGpus({gpus}: Topology): BadWiring[] {
  const kinds = groupBy(
    gpus,
    (gpu) => `${gpu.name}${gpu.memory === null ? '' : `, ${Math.round(gpu.memory / 1024 ** 3)} GiB`}`,
  )
  if (kinds.length < 2) return []
  return [
    {
      kind: 'unlike-gpus',
      subjects: gpus.map(gpuName),
      text: `The GPUs are of ${kinds.length} kinds: ${kinds.map(([kind, group]) => `${gpuNames(group)} ${kind}`).join('; ')}.`,
      why: 'Ranks of one run wait for the slowest GPU, and a batch that fits one may not fit the other.',
    },
  ]
}

function emptyNodes({numa, gpus}: Topology): BadWiring[] {
  // Where a GPU hangs there, far-memory has said it.
  return numa
    .filter((node) => node.memory === 0 && !gpus.some((gpu) => gpu.numaNode === node.node))
    .map((node) => ({
      kind: 'no-memory' as const,
      subjects: [`NUMA ${node.node}`],
      text: `NUMA node ${node.node} has CPUs (${node.cpus}) and no memory.`,
      why: 'What runs on these CPUs has all its memory elsewhere: a bank of modules is missing or defective.',
    }))
}

function gpuName({index}: GpuPlace): string {
  return `GPU${index}`
}

/** `GPU0`, `GPU0 and GPU1`, `GPU0, GPU1 and GPU3`. */
function gpuNames(gpus: GpuPlace[]): string {
  const names = gpus.map(gpuName)
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

function groupBy<T>(values: T[], key: (value: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>()
  for (const value of values) groups.set(key(value), [...(groups.get(key(value)) ?? []), value])
  return [...groups]
}
