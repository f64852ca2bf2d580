import type {Context} from '../base/index.ts'
import {readManifest, type LocatedManifest} from '../manifest/index.ts'
import type {NodeReport} from '../nodes/index.ts'
import type {CheckName, PreflightResult} from '../preflight/index.ts'
import type {Mended} from '../protocol/index.ts'
import {loadRack, selectNodes, type Rack, type RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {InsideOfNode} from './check-inside.ts'
import type {VolumeOfNode} from './check-volumes.ts'
import type {PythonOfNode} from './check-python.ts'
import {findingsOf, type Finding} from './findings.ts'

export interface CheckInput {
  /** Project folder or a folder below it. */
  project: string
  rack?: string
  /** Selector of the nodes; all of the rack by default. */
  on?: string
  /** Leaves out what needs a connection. */
  offline: boolean
  /** Also measures limits, versions, GPUs and the ways between the nodes, as before a training. */
  preflight?: {skip: CheckName[]}
  openFleet: (rack: Rack) => Promise<Fleet>
}

export interface CheckResult {
  /** True if nothing would stop a run. */
  ok: boolean
  /** What was looked at; absent where it could not be. `goOn`: runs that would go on after a reboot of their nodes. */
  checked: {
    manifest?: string
    rack?: string
    nodes: string[]
    head?: string
    goOn?: string[]
    pythons?: PythonOfNode[]
    inside?: InsideOfNode[]
    volumes?: VolumeOfNode[]
  }
  findings: Finding[]
  /** With --preflight; its findings are in it alone. */
  preflight?: PreflightResult
  /** With --fix: what was mended before the check. */
  mended?: NodeReport<Mended[]>[]
}

/** Looks over everything that a run needs: manifest, rack file, nodes, head. Never throws for what it finds. */
export async function checkProject(input: CheckInput, ctx: Context): Promise<CheckResult> {
  const findings: Finding[] = []
  const collect = async <T>(about: Finding['about'], action: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await action()
    } catch (error) {
      findings.push(...findingsOf(error, about))
      return undefined
    }
  }
  const located = await collect('manifest', () => readManifest(input.project))
  const rack = await collect('rack', () => loadRack(input.rack, ctx.env, located?.manifest.rack))
  const nodes = rack && (await collect('rack', async () => selectNodes(rack, input.on, rack.nodes)))
  if (located)
    findings.push(
      ...(await (await import('./check-manifest.ts')).checkManifest(located, rack?.slurm ? undefined : nodes)),
    )
  const checked: CheckResult['checked'] = {
    ...(located && {manifest: located.manifest.path}),
    ...(rack && {rack: rack.path}),
    nodes: [],
  }
  const preflight =
    rack && nodes && !input.offline
      ? await checkOnline({rack, nodes, located, input, findings, checked}, ctx)
      : undefined
  const ok = findings.every((finding) => finding.severity !== 'error') && preflight?.ok !== false
  return {ok, checked, findings, ...(preflight && {preflight})}
}

interface Online {
  rack: Rack
  nodes: RackNode[]
  located: LocatedManifest | undefined
  input: CheckInput
  findings: Finding[]
  checked: CheckResult['checked']
}

async function checkOnline(
  {rack, nodes, located, input, findings, checked}: Online,
  ctx: Context,
): Promise<PreflightResult | undefined> {
  const [{checkNodes}, {checkHead}] = await Promise.all([import('./check-nodes.ts'), import('./check-head.ts')])
  // The head's node is connected to even where others are checked.
  const fleet = await input.openFleet(rack)
  const head = await checkHead(rack, located?.manifest, fleet, ctx)
  // While the head runs its port is its own.
  const port = head.uri === undefined && located?.manifest.tracking.uri === undefined ? rack.head.port : undefined
  const ports = port ? {[rack.head.node]: [[rack.head.bind ?? '0.0.0.0', port] as [string, number]]} : {}
  const {findings: nodeFindings, reached} = await checkNodes(
    {nodes, ports, measuredTwice: input.preflight !== undefined, ...(located && {manifest: located.manifest})},
    fleet,
    ctx,
  )
  findings.push(...nodeFindings, ...head.findings)
  const reboot = await (await import('./check-reboot.ts')).checkReboot(reached, fleet, ctx)
  findings.push(...reboot.findings)
  if (reboot.goOn.length > 0) checked.goOn = reboot.goOn
  const {image, isolate, pythonVersion} = located?.manifest.workspace ?? {}
  if (located && (image !== undefined || isolate)) {
    const {inside, findings: ofInside} = await (
      await import('./check-inside.ts')
    ).checkInside(located.manifest, reached, fleet, ctx)
    checked.inside = inside
    findings.push(...ofInside)
  }
  if (rack.volumes || located?.manifest.volumes) {
    const {volumes, findings: ofVolumes} = await (
      await import('./check-volumes.ts')
    ).checkVolumes(rack, reached, located?.manifest, fleet, ctx)
    checked.volumes = volumes
    findings.push(...ofVolumes)
  }
  const version = image === undefined ? pythonVersion : undefined // that of an image is looked for in the image
  if (version !== undefined) {
    const {checkPython} = await import('./check-python.ts')
    const {pythons, findings: ofPythons} = await checkPython(version, reached, fleet, ctx)
    checked.pythons = pythons
    findings.push(...ofPythons)
  }
  if (rack.slurm && reached.some((node) => node.name === rack.slurm?.login))
    findings.push(...(await (await import('./check-slurm.ts')).checkSlurm(rack, located?.manifest, fleet, ctx)))
  checked.nodes = nodes.map((node) => node.name)
  if (head.uri !== undefined) checked.head = head.uri
  if (!input.preflight) return undefined
  const {preflightNodes} = await import('./preflight.ts')
  return preflightNodes(reached, {skip: input.preflight.skip, manifest: located?.manifest}, fleet, ctx)
}
