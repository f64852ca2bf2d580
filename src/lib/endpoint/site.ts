import type {Context} from '../base/index.ts'
import {CliError} from '../base/index.ts'
import type {HeadConnection} from '../head/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Mlflow} from '../tracking/index.ts'

/** What work on endpoints needs at hand. */
export interface Site {
  rack: Rack
  fleet: Fleet
  manifest: Manifest | undefined
  head: HeadConnection
  mlflow: Mlflow
  context: Context
}

/** The node of this name. NOT_FOUND where the rack file no longer has it. */
export function nodeOf(site: Site, name: string): RackNode {
  const node = site.rack.nodes.find((one) => one.name === name)
  if (node) return node
  throw new CliError('NOT_FOUND', `rack ${site.rack.name} has no node ${name}`, {hint: `flexrack rack show ${site.rack.name}`})
}

export function hostOf(site: Site, name: string): Promise<Host> {
  return openHost(site.fleet, nodeOf(site, name), site.context)
}
