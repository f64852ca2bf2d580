import {CliError, type Context} from '../../lib/base/index.ts'
import type {Manifest} from '../../lib/manifest/index.ts'
import type {Rack} from '../../lib/rack/index.ts'
import type {Fleet} from '../../lib/ssh/index.ts'
import type {FleetUse} from './fleet.ts'

export interface SessionFlags {
  rack?: string | undefined
  project?: string | undefined
}

/** What most commands start from. `fleet` connects on first use and is closed when the command ends. */
export interface Session {
  rack: Rack
  fleet: Fleet
  manifest: Manifest | undefined
}

/** A session of a command that cannot do without a manifest. */
export interface ProjectSession extends Session {
  manifest: Manifest
}

/**
 * Loads the manifest (from --project, or here and above) and the rack (--rack, FLEXRACK_RACK, the manifest's, the only
 * one), and opens the fleet. Errors: MANIFEST_MISSING, MANIFEST_INVALID, RACK_INVALID, NOT_FOUND.
 */
export async function openSession(flags: SessionFlags, context: Context): Promise<Session> {
  const manifest = await readManifest(flags.project)
  return {...(await openRack(flags, context, manifest)), manifest}
}

/** The same where the manifest is needed. */
export async function openProjectSession(
  flags: SessionFlags,
  context: Context,
  how: FleetUse = {},
): Promise<ProjectSession> {
  const {loadManifest} = await import('../../lib/manifest/index.ts')
  const manifest = await loadManifest(flags.project ?? process.cwd())
  return {...(await openRack(flags, context, manifest, how)), manifest}
}

async function readManifest(project: string | undefined): Promise<Manifest | undefined> {
  const {findManifest, loadManifest} = await import('../../lib/manifest/index.ts')
  if (project === undefined && findManifest(process.cwd()) === undefined) return undefined
  return loadManifest(project ?? process.cwd())
}

async function openRack(
  flags: SessionFlags,
  context: Context,
  manifest: Manifest | undefined,
  how: FleetUse = {},
): Promise<{rack: Rack; fleet: Fleet}> {
  const [{loadRack}, {openRackFleet}] = await Promise.all([import('../../lib/rack/index.ts'), import('./fleet.ts')])
  const rack = await loadRack(flags.rack, context.env, manifest?.rack)
  return {rack, fleet: await openRackFleet(rack, context, how)}
}

/** The node of this name. Errors: NOT_FOUND. */
export function requireNode(rack: Rack, name: string): Rack['nodes'][number] {
  const node = rack.nodes.find((one) => one.name === name)
  if (node) return node
  throw new CliError('NOT_FOUND', `rack ${rack.name} has no node ${name}`, {
    hint: `flexrack rack show ${rack.name}`,
    details: {nodes: rack.nodes.map((one) => one.name)},
  })
}
