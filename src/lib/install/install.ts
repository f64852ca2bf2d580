import {count, type Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import {carryOutOver, overNodes, type NodeReport, type NodesPlan} from '../nodes/index.ts'
import type {Handlers, PlanOf, StepOf} from '../plan/index.ts'
import type {NodeInstalled, Uninstalled} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'

export interface Installed {
  /** flexrack's folder on the node. */
  root: string
}

export type InstallKinds = {
  /** `root`: as the rack file has it. */
  'node.install': {input: {node: string; root: string}; output: Installed}
  /**
   * `paths`, `outside` (in words: what starts services again after a reboot) and `alive` are what was found; everything
   * of flexrack that is there then goes. Seconds of grace.
   */
  'node.uninstall': {
    input: {
      node: string
      root: string
      paths: string[]
      outside: string[]
      alive: NodeInstalled['alive']
      force: boolean
      grace: number
    }
    output: Uninstalled
  }
}

export interface InstallEnv {
  rack: Pick<Rack, 'nodes'>
  fleet: Fleet
  ctx: Context
}

const GONE: Uninstalled = {removed: [], left: [], ended: 0}

export const INSTALL_HANDLERS: Handlers<InstallKinds, InstallEnv> = {
  'node.install': async ({node, root}, _done, {rack, fleet, ctx}) => ({
    root: (await openHost(fleet, {...nodeOf(rack, node), root}, ctx)).root,
  }),
  'node.uninstall': async ({node, root, force, grace}, _done, {rack, fleet, ctx}) => {
    const host = await openHost(fleet, {...nodeOf(rack, node), root}, ctx, {ifPresent: true})
    return host ? host.call('node.uninstall', {force, grace}, {signal: ctx.signal}) : GONE
  },
}

function nodeOf({nodes}: Pick<Rack, 'nodes'>, name: string): RackNode {
  return nodes.find((one) => one.name === name) as RackNode
}

/** What `rack install` would do. Pure. */
export function planInstall(rack: Pick<Rack, 'name'>, nodes: RackNode[]): PlanOf<InstallKinds> {
  const steps = nodes.map(({name, root}): StepOf<InstallKinds> => ({
    id: `install:${name}`,
    node: name,
    kind: 'node.install',
    title: `Put the node program into ${root} of ${name}`,
    input: {node: name, root},
    needs: [],
  }))
  return {command: `rack install ${rack.name}`, steps}
}

/** Puts the node program on every node. Safe to repeat. Returns a report a node, bad ones too. */
export async function installNodes(
  rack: Rack,
  nodes: RackNode[],
  fleet: Fleet,
  ctx: Context,
): Promise<NodeReport<Installed>[]> {
  const env = {rack: {nodes}, fleet, ctx}
  return carryOutOver<InstallKinds, InstallEnv, Installed>(
    'Installing on',
    {plan: planInstall(rack, nodes), failed: []},
    {names: nodes.map((one) => one.name)},
    {handlers: INSTALL_HANDLERS, env},
    ctx,
  )
}

export interface UninstallHow {
  /** Ends what still runs there. */
  force?: boolean
  /** Seconds between SIGTERM and SIGKILL; 10 by default. */
  grace?: number
}

/** What `rack uninstall` would remove, node by node; of a node on which flexrack never was there is no step. */
export async function planUninstall(
  rack: Pick<Rack, 'name'>,
  nodes: RackNode[],
  fleet: Fleet,
  ctx: Context,
  {force = false, grace = 10}: UninstallHow = {},
): Promise<NodesPlan<InstallKinds>> {
  const reports = await overNodes('Looking at', nodes, fleet, ctx, (node) => look(node, fleet, ctx))
  const steps = reports.flatMap(({node, value}): StepOf<InstallKinds>[] => {
    if (!value) return []
    const {root, entries, alive, outside} = value
    const paths = entries.filter((entry) => entry.inside).map((entry) => entry.path)
    const running =
      alive.length === 0
        ? ''
        : `; ${count(alive.length, 'process runs', 'processes run')} there, ${force ? 'and are ended' : 'so only with --force'}`
    const title = `Remove ${paths.length} path${paths.length === 1 ? '' : 's'} below ${root}${outside.map((one) => `, ${one}`).join('')}${running}`
    return [
      {
        id: `uninstall:${node}`,
        node,
        kind: 'node.uninstall',
        title,
        input: {node, root: nodeOf({nodes}, node).root, paths, outside, alive, force, grace},
        needs: [],
      },
    ]
  })
  return {
    plan: {command: `rack uninstall ${rack.name}`, steps},
    failed: reports.filter((one): one is NodeReport<never> => !one.ok),
  }
}

/**
 * Removes what flexrack put on these nodes. Refuses a node (CONFLICT) on which something of it still runs, unless
 * forced. Returns a report a node.
 */
export async function uninstallNodes(
  planned: NodesPlan<InstallKinds>,
  nodes: RackNode[],
  fleet: Fleet,
  ctx: Context,
): Promise<NodeReport<Uninstalled>[]> {
  const env = {rack: {nodes}, fleet, ctx}
  return carryOutOver<InstallKinds, InstallEnv, Uninstalled>(
    'Uninstalling from',
    planned,
    {names: nodes.map((one) => one.name), idle: GONE},
    {handlers: INSTALL_HANDLERS, env},
    ctx,
  )
}

/** What is on a node now; undefined where flexrack never was. */
async function look(node: RackNode, fleet: Fleet, ctx: Context): Promise<NodeInstalled | undefined> {
  const host = await openHost(fleet, node, ctx, {ifPresent: true})
  return host && (await host.call('node.installed', {}, {signal: ctx.signal}))
}
