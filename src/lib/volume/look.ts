import {CliError, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Handlers, StepOf} from '../plan/index.ts'
import type {BoundVolume, VolumeSeen} from '../protocol/index.ts'

type VolumeInput = {node: string; volumes: BoundVolume[]}

export type VolumeKinds = {'volume.look': {input: VolumeInput; output: VolumeSeen[]}}

export interface VolumeEnv {
  host(node: string): Host | Promise<Host>
  context: Context
}

export const VOLUME_HANDLERS: Handlers<VolumeKinds, VolumeEnv> = {'volume.look': look}

/** One a node: that the folders are there, and can be written to where they are to be. Pure. */
export function volumeSteps(nodes: readonly string[], volumes: readonly BoundVolume[]): StepOf<VolumeKinds>[] {
  if (volumes.length === 0) return []
  const what = volumes.map(({name, path, write}) => `${name} (${path}${write ? ', to write' : ''})`).join(', ')
  return nodes.map((node) => ({
    id: `volume:${node}`,
    node,
    kind: 'volume.look',
    title: `Look whether it has the volumes ${what}`,
    needs: [],
    input: {node, volumes: [...volumes]},
  }))
}

async function look({node, volumes}: VolumeInput, _done: unknown, {host, context}: VolumeEnv): Promise<VolumeSeen[]> {
  return needVolumes(await host(node), volumes, context, true)
}

/**
 * Asks a node for volumes. `tryWrite`: a file is written and removed where they are to be written to. Errors:
 * NODE_UNFIT.
 */
export async function needVolumes(
  host: Host,
  volumes: readonly BoundVolume[],
  {signal}: Pick<Context, 'signal'>,
  tryWrite = false,
): Promise<VolumeSeen[]> {
  if (volumes.length === 0) return []
  const seen = await host.call('volume.look', {volumes: [...volumes], ...(tryWrite && {try_write: true})}, {signal})
  const bad = seen.find(({trouble}) => trouble !== null)
  if (!bad) return seen
  throw new CliError('NODE_UNFIT', `${host.node} cannot give the volume ${bad.name}: ${bad.trouble}`, {
    ...(bad.hint !== null && {hint: bad.hint}),
    details: {node: host.node, volume: bad.name},
  })
}
