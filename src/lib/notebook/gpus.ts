import {CliError, ownerName, type Context} from '../base/index.ts'
import {OWN_LEASES, type GpuRequest} from '../gpu/index.ts'
import type {Host} from '../host/index.ts'
import type {Api, NotebookGpus} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'

/** What a kernel leases when it starts. */
export interface KernelGpus extends GpuRequest {
  api: Api
  /** All of the node's are GPUs in software. */
  software: boolean
  /** GPUs of this API that its node shares, and each other node of which it may lease as well. */
  own: number
  others: {node: string; devices: number}[]
  /** For people: `1 GPU with 2 GiB`. */
  text: string
}

/**
 * What the node needs to lease for its kernels without us: the drivers are put there, and their names told; other nodes
 * give it passes. `end` where no notebook begins to use them. Errors: NATIVE_MISSING, NODE_UNFIT where too few nodes let
 * it in, those of the node.
 */
export async function preparedGpus(
  host: Host,
  project: string,
  {count, memory, fraction, cap, api, software, own, others, text}: KernelGpus,
  place: {rack: Rack; fleet: Fleet} | undefined,
  context: Context,
): Promise<{gpus: NotebookGpus; end(): Promise<void>}> {
  const share: Record<string, number | boolean> =
    fraction !== undefined && fraction < 1 ? {fraction} : memory !== undefined ? {memory} : {whole: true}
  const {keeper, icd, libraries} = await OWN_LEASES.prepare(host, api, software, context)
  const order = {count, share, cap: cap ?? false, api, text}
  const gpus = {...order, owner: ownerName(context), keeper, icd, libraries}
  if (others.length === 0 || place === undefined) return {gpus, end: async () => {}}
  const passes = await OWN_LEASES.passes(
    place,
    {host, nodes: others.map(({node}) => node), order: {...order, purpose: `notebook ${project} on ${host.node}`}},
    context,
  )
  const reached = new Set(passes.places.map(({node}) => node))
  const has = others.reduce((sum, {node, devices}) => sum + (reached.has(node) ? devices : 0), own)
  if (has < count) {
    await passes.end()
    throw new CliError(
      'NODE_UNFIT',
      `${host.node} itself reaches ${has} of the ${count} GPUs that a kernel is to lease`,
      {hint: 'gpu: {bind: ...} in the rack file, then: flexrack gpu serve', details: {node: host.node}},
    )
  }
  return {gpus: {...gpus, places: passes.places}, end: () => passes.end()}
}
