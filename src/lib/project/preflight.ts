import type {Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import {runPreflight, type CheckName, type PreflightResult} from '../preflight/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {findAddresses} from '../train/index.ts'

/**
 * The preflight of a training, without the training: on nodes that can be connected to. Errors: NODE_UNFIT where one
 * has no address.
 */
export async function preflightNodes(
  nodes: RackNode[],
  {skip, manifest}: {skip: CheckName[]; manifest: Manifest | undefined},
  fleet: Fleet,
  ctx: Context,
): Promise<PreflightResult> {
  const hosts = await Promise.all(nodes.map((node) => openHost(fleet, node, ctx)))
  const progress = ctx.reporter.begin(`Preflight of ${nodes.length === 1 ? '1 node' : `${nodes.length} nodes`}`)
  try {
    const addresses = nodes.length > 1 ? await findAddresses(nodes, hosts, ctx) : {}
    const placed = hosts.map((host) => ({
      host,
      ...(addresses[host.node] && {address: addresses[host.node]?.address as string}),
    }))
    const project = manifest && {project: manifest.name}
    const result = await runPreflight(
      {
        nodes: placed,
        skip,
        processes: manifest?.train?.processesPerNode ?? 1,
        mpi: manifest?.train?.launcher === 'mpi',
        ...project,
      },
      ctx,
    )
    progress.done()
    return result
  } catch (error) {
    progress.fail()
    throw error
  }
}
