import {openGpus} from '../gpu/index.ts'
import type {Release, Replica} from './document.ts'
import {purposeOf} from './leases.ts'
import type {Site} from './site.ts'

/** A GPU of which a model server has a lease. Sizes in bytes. */
export interface ServerGpu {
  node: string
  /** Position on its node. */
  index: number
  name: string
  /** Part of the last second in which the GPU computed, for whomever, 0..1. */
  busy: number
  /** Of its lease: what its programs have allocated, and what they may. */
  used: number
  memory: number
}

/** By service; and which nodes could not be asked. */
export interface GpuUse {
  servers: ReadonlyMap<string, ServerGpu[]>
  unknown: {node: string; message: string}[]
}

/** The GPUs that servers of these releases have now, as their daemons tell; nobody is asked for releases without. */
export async function gpuUse(site: Site, releases: Release[]): Promise<GpuUse> {
  const needing = releases.filter(({gpus}) => gpus !== undefined)
  const own = new Set(needing.flatMap(({replicas}) => replicas.map(({node}) => node)))
  const isAnywhere = needing.some(({gpus}) => gpus?.remote)
  const nodes = site.rack.nodes.filter(({name}) => needing.length > 0 && (isAnywhere || own.has(name)))
  if (nodes.length === 0) return {servers: new Map(), unknown: []}
  const report = await openGpus(site, site.context).read(nodes)
  const found = (replica: Replica): ServerGpu[] =>
    report.leases
      .filter(({purpose}) => purpose === purposeOf(replica))
      .flatMap(({node, devices}) =>
        devices.map(({index, name, used, memory}) => {
          const device = report.devices.find((one) => one.node === node && one.index === index)
          return {node, index, name, busy: device?.utilisation ?? 0, used, memory}
        }),
      )
  return {
    servers: new Map(needing.flatMap(({replicas}) => replicas.map((one) => [one.service, found(one)] as const))),
    unknown: report.nodes.flatMap(({node, state, message = 'did not answer'}) =>
      state === 'failed' ? [{node, message}] : [],
    ),
  }
}
