import {CliError} from '../base/index.ts'
import {nearestName} from '../document/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {BoundVolume} from '../protocol/index.ts'
import {selectNodes, type Rack, type RackNode} from '../rack/index.ts'

/**
 * The folders that a project's programs may have on a rack. Errors: NOT_FOUND for a name that the rack file does not
 * have, USAGE for writing to what may only be read. Pure.
 */
export function volumesFor({volumes = [], path}: Pick<Manifest, 'volumes' | 'path'>, rack: Rack): BoundVolume[] {
  return volumes.map(({name, write}) => {
    const known = rack.volumes ?? {}
    const found = Object.hasOwn(known, name) ? known[name] : undefined
    if (!found) {
      const names = Object.keys(known)
      const nearest = nearestName(name, names)
      throw new CliError(
        'NOT_FOUND',
        `the rack ${rack.name} has no volume ${name}${nearest ? `; did you mean ${nearest}?` : names.length > 0 ? `; it has ${names.join(', ')}` : ''}`,
        {
          hint: `add to ${rack.path}:  volumes: {${name}: {path: /FOLDER, kind: local}}\nor change volumes in ${path}`,
          details: {volumes: names},
        },
      )
    }
    if (write && found.read_only)
      throw new CliError(
        'USAGE',
        `the volume ${name} of the rack ${rack.name} is read_only, and the project is to write to it`,
        {hint: `leave out :rw in ${path}`},
      )
    return {name, path: found.path, write}
  })
}

/**
 * Those of the nodes that have all of the volumes; `named`: then each has to. Errors: those of volumesFor, NODE_UNFIT.
 * Pure.
 */
export function nodesWith(
  manifest: Pick<Manifest, 'volumes' | 'path'>,
  rack: Rack,
  nodes: RackNode[],
  named: boolean,
): RackNode[] {
  const wanted = volumesFor(manifest, rack)
  const lacking = (node: RackNode): string[] =>
    wanted.flatMap(({name}) =>
      selectNodes(rack, rack.volumes?.[name]?.nodes, rack.nodes).includes(node) ? [] : [name],
    )
  const having = nodes.filter((node) => lacking(node).length === 0)
  const without = nodes.find((node) => !having.includes(node))
  if (without && (named || having.length === 0)) {
    throw new CliError(
      'NODE_UNFIT',
      `${without.name} does not have the volume ${lacking(without).join(', ')}, says the rack file`,
      {
        hint:
          having.length > 0
            ? `--on ${having.map(({name}) => name).join(',')}`
            : `change nodes of the volume in ${rack.path}`,
        details: {node: without.name, volumes: lacking(without)},
      },
    )
  }
  return having
}

/** How programs are told where they are. Pure. */
export function volumeVariables(volumes: readonly BoundVolume[]): Record<string, string> {
  return Object.fromEntries(volumes.map(({name, path}) => [`FLEXRACK_VOLUME_${name.toUpperCase()}`, path]))
}
