import {ownerName, type Context} from '../base/index.ts'
import {OWN_LEASES, type GpuRequest} from '../gpu/index.ts'
import type {Host} from '../host/index.ts'
import type {Api, NotebookGpus} from '../protocol/index.ts'

/** What a kernel leases when it starts. */
export interface KernelGpus extends GpuRequest {
  api: Api
  /** All of the node's are GPUs in software. */
  software: boolean
  /** For people: `1 GPU with 2 GiB`. */
  text: string
}

/**
 * What the node needs to lease for its kernels without us: the drivers are put there, and their names told. Errors:
 * NATIVE_MISSING, those of the node.
 */
export async function preparedGpus(
  host: Host,
  {count, memory, fraction, cap, api, software, text}: KernelGpus,
  context: Context,
): Promise<NotebookGpus> {
  const share: Record<string, number | boolean> =
    fraction !== undefined && fraction < 1 ? {fraction} : memory !== undefined ? {memory} : {whole: true}
  const {keeper, icd, libraries} = await OWN_LEASES.prepare(host, api, software, context)
  return {count, share, cap: cap ?? false, api, owner: ownerName(context), keeper, icd, libraries, text}
}
