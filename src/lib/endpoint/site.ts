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
  /** Base URL of the standby, where one follows. */
  standbyUri?: string
  /** `head` is the standby, as the first head does not answer: nothing can be changed. */
  isStandby?: true
  mlflow: Mlflow
  context: Context
}

/** The node of this name. NOT_FOUND where the rack file no longer has it. */
export function nodeOf(site: Site, name: string): RackNode {
  const node = site.rack.nodes.find((one) => one.name === name)
  if (node) return node
  throw new CliError('NOT_FOUND', `rack ${site.rack.name} has no node ${name}`, {
    hint: `flexrack rack show ${site.rack.name}`,
  })
}

export function hostOf(site: Site, name: string): Promise<Host> {
  return openHost(site.fleet, nodeOf(site, name), site.context)
}

/** Those of the nodes that the rack still has; what ran on others is out of reach for good, which is told. */
export function reachable(site: Site, nodes: string[]): string[] {
  const known = nodes.filter((name) => site.rack.nodes.some((node) => node.name === name))
  const gone = nodes.filter((name) => !known.includes(name))
  if (gone.length > 0)
    site.context.reporter.warn(
      `rack ${site.rack.name} no longer has ${gone.join(', ')}; what may still run there has to be ended there`,
    )
  return known
}
