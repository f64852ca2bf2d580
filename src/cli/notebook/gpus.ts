import {CliError, type Context, sizeText} from '../../lib/base/index.ts'
import type {KernelGpus} from '../../lib/notebook/index.ts'
import type {Session} from '../base/session.ts'
import {count} from '../terminal/render.ts'

/**
 * What a kernel is to lease of its own node's daemon, with `remote` of other nodes', too. Errors: USAGE, GPU_UNAVAILABLE
 * where these share none, or too few.
 */
export async function kernelGpus(
  flags: {
    count: number
    memory?: string | undefined
    fraction?: string | undefined
    remote?: boolean | undefined
  },
  {rack, fleet}: Session,
  node: string,
  context: Context,
): Promise<KernelGpus> {
  const {gpuRequest, openGpus} = await import('../../lib/gpu/index.ts')
  const request = gpuRequest(flags)
  const gpus = openGpus({rack, fleet}, context)
  const {devices} = await gpus.read(flags.remote ? rack.nodes : rack.nodes.filter((one) => one.name === node))
  const api = devices.some((one) => one.api === 'cuda') ? 'cuda' : 'opencl'
  const fitting = devices.filter((one) => one.api === api)
  if (fitting.length < request.count) {
    const shared = `${flags.remote ? `rack ${rack.name}` : node} shares ${count(fitting.length, 'GPU')}`
    throw new CliError(
      'GPU_UNAVAILABLE',
      `${shared}, and a kernel is to lease ${request.count}${flags.remote ? '' : ': without --remote kernels lease of their own node'}`,
      {hint: `flexrack gpu serve ${node}`, details: {node}},
    )
  }
  const share =
    request.memory !== undefined
      ? ` with ${sizeText(request.memory)}`
      : request.fraction !== undefined
        ? ` by ${request.fraction}`
        : ''
  const byNode = Map.groupBy(fitting, (one) => one.node)
  return {
    ...request,
    api,
    software: fitting.every((one) => one.name.startsWith('Flexrack Simulated GPU')),
    own: byNode.get(node)?.length ?? 0,
    others: [...byNode].filter(([name]) => name !== node).map(([name, own]) => ({node: name, devices: own.length})),
    text: `${count(request.count, 'GPU')}${share}`,
  }
}
