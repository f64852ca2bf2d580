import {CliError, machineHere, type Context} from '../../lib/base/index.ts'
import type {BundleWish, CreateKinds, MadeBundle, WheelSource} from '../../lib/bundle/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import type {Part} from './wish.ts'

export interface CreateFlags {
  to: string
  pythons: string[]
  machines: string[] | undefined
  /** Undefined: everything there is. */
  parts: Part[] | undefined
  project: string | undefined
  rack: string | undefined
}

/** What `bundle create` does. */
export async function createBundle<A, B>(
  flags: CreateFlags,
  dryRun: boolean,
  context: Context,
  answer: {plan: (plan: Plan) => A; made: (made: MadeBundle) => B},
): Promise<A | B> {
  const [{CREATE, removeDraft}, {executePlan, throwIfFailed, valuesOf}] = await Promise.all([
    import('../../lib/bundle/index.ts'),
    import('../../lib/plan/index.ts'),
  ])
  const plan = await CREATE.plan(await wishOf(flags, context), context)
  if (dryRun) return answer.plan(plan)
  const draft = await CREATE.draft(flags.to)
  try {
    const outcomes = await executePlan(plan, CREATE.handlers, {draft, context}, context)
    throwIfFailed(outcomes)
    return answer.made(valuesOf<CreateKinds, 'bundle.write'>(outcomes, 'bundle.write')[0] as MadeBundle)
  } finally {
    await removeDraft(draft)
  }
}

async function wishOf(
  {to, pythons, machines, parts, project, rack}: CreateFlags,
  context: Context,
): Promise<BundleWish> {
  const strange = pythons.find((one) => !/^3\.\d{1,2}$/.test(one))
  if (strange !== undefined)
    throw new CliError('USAGE', `"${strange}" is not a version of Python`, {hint: '--python 3.11'})
  const wants = (part: Part): boolean => parts === undefined || parts.includes(part)
  const {findManifest, loadManifest} = await import('../../lib/manifest/index.ts')
  const isThere = project !== undefined || findManifest(process.cwd()) !== undefined
  const manifest = isThere || parts?.includes('project') ? await loadManifest(project ?? process.cwd()) : undefined
  const sources: WheelSource[] = []
  if (wants('head')) {
    const [{HEAD_PACKAGES}, {loadRack}] = await Promise.all([
      import('../../lib/head/index.ts'),
      import('../../lib/rack/index.ts'),
    ])
    sources.push({
      kind: 'locks',
      name: 'head',
      locks: HEAD_PACKAGES.locks(rack === undefined ? {} : (await loadRack(rack, context.env)).head),
    })
  }
  if (wants('sweep')) sources.push({kind: 'locks', name: 'sweep', locks: ['sweep', 'sweep-cmaes', 'sweep-scipy']})
  if (wants('endpoints')) {
    const runtimes = new Set([
      'onnx',
      ...Object.values(manifest?.endpoints ?? {}).flatMap(({runtime}) => runtime ?? []),
    ])
    sources.push(
      ...[...runtimes].map((runtime): WheelSource => ({kind: 'runtime', name: `endpoint:${runtime}`, runtime})),
    )
  }
  const {python: requirements = null, pythonVersion: python} = manifest?.workspace ?? {}
  if (manifest && wants('project') && (requirements !== null || python !== undefined))
    sources.push({
      kind: 'project',
      name: `project:${manifest.name}`,
      folder: manifest.folder,
      requirements,
      ...(python !== undefined && {python}),
    })
  return {
    to,
    pythons: [...new Set(pythons)],
    machines: [...new Set(machines ?? [ownMachine()])],
    program: wants('program'),
    sources,
    ...(manifest?.workspace.autosave && wants('project') && {restic: true}),
  }
}

function ownMachine(): string {
  const name = machineHere()
  if (name === undefined)
    throw new CliError('USAGE', `which processor do the nodes have? There is no uv for ${process.arch}`, {
      hint: '--machine x86_64',
    })
  return name
}
