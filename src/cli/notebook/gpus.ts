import {CliError, type Context, sizeText} from '../../lib/base/index.ts'
import type {KernelGpus} from '../../lib/notebook/index.ts'
import type {Session} from '../base/session.ts'
import {count} from '../terminal/render.ts'

/**
 * What a kernel is to lease of its own node's daemon. Errors: USAGE, GPU_UNAVAILABLE where the node shares none, or too
 * few.
 */
export async function kernelGpus(
  flags: {count: number; memory?: string | undefined; fraction?: string | undefined},
  {rack, fleet}: Session,
  node: string,
  context: Context,
): Promise<KernelGpus> {
  const {gpuRequest, openGpus} = await import('../../lib/gpu/index.ts')
  const request = gpuRequest(flags)
  const gpus = openGpus({rack, fleet}, context)
  const {devices} = await gpus.read(rack.nodes.filter((one) => one.name === node))
  const api = devices.some((one) => one.api === 'cuda') ? 'cuda' : 'opencl'
  const own = devices.filter((one) => one.api === api)
  if (own.length < request.count) {
    throw new CliError(
      'GPU_UNAVAILABLE',
      `${node} shares ${count(own.length, 'GPU')}, and a kernel is to lease ${request.count}: kernels lease of their own node`,
      {hint: `flexrack gpu serve ${node}`, details: {node}},
    )
  }
  const share =
    request.memory !== undefined
      ? ` with ${sizeText(request.memory)}`
      : request.fraction !== undefined
        ? ` by ${request.fraction}`
        : ''
  return {
    ...request,
    api,
    software: own.every((one) => one.name.startsWith('Flexrack Simulated GPU')),
    text: `${count(request.count, 'GPU')}${share}`,
  }
}
