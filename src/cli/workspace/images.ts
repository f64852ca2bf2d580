import {count, sizeText} from '../../lib/base/index.ts'
import type {Context} from '../../lib/base/index.ts'
import type {Host} from '../../lib/host/index.ts'
import type {ImageEntry, ImagesGone} from '../../lib/protocol/index.ts'
import {table} from '../terminal/render.ts'

export type ImageOnNode = {node: string} & ImageEntry

/** `dryRun`: nothing was removed yet. */
export type Pruned = {node: string; dryRun: boolean} & ImagesGone

/** The images on the nodes. */
export async function listImages(hosts: Host[], context: Context): Promise<ImageOnNode[]> {
  return (
    await Promise.all(
      hosts.map(async (host) =>
        (await host.call('image.list', null, {signal: context.signal})).map((one) => ({node: host.node, ...one})),
      ),
    )
  ).flat()
}

/** Removes those that nothing uses. */
export async function pruneImages(hosts: Host[], dryRun: boolean, context: Context): Promise<Pruned[]> {
  return Promise.all(
    hosts.map(async (host) => ({
      node: host.node,
      dryRun,
      ...(await host.call('image.remove', {dry_run: dryRun}, {signal: context.signal})),
    })),
  )
}

export function imagesText(all: ImageOnNode[]): string {
  if (all.length === 0)
    return 'There is no image on these nodes. A project runs in one with, in flexrack.yaml:  workspace: {image: registry/name:tag}'
  return table(
    all.map((one) => ({
      node: one.node,
      image: one.ref,
      digest: one.digest.slice(7, 19),
      layers: String(one.layers.length),
      size: sizeText(one.bytes),
      alone: sizeText(one.alone),
      'used by': one.used_by.join(', ') || undefined,
    })),
    [
      'node',
      'image',
      'digest',
      {key: 'layers', align: 'right'},
      {key: 'size', align: 'right'},
      {key: 'alone', align: 'right'},
      'used by',
    ],
  )
}

export function prunedText(all: Pruned[]): string {
  return all
    .map(({node, dryRun, removed, layers, bytes: size}) =>
      removed.length + layers === 0
        ? `${node}: every image there is used`
        : `${node}: ${count(removed.length, 'image')} and ${count(layers, 'layer')} ${dryRun ? 'would be removed' : 'removed'} (${sizeText(size)})`,
    )
    .join('\n')
}
