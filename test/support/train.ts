import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {makeContext, type Context} from '../../src/lib/base/index.ts'
import type {Manifest, TrainSpec, WorkspaceSpec} from '../../src/lib/manifest/index.ts'
import type {Rack} from '../../src/lib/rack/index.ts'
import type {RankLine, RunNews} from '../../src/lib/runs/index.ts'
import type {Fleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan, type TrainChoice, type Trained} from '../../src/lib/train/index.ts'
import {ProjectFiles} from '../../src/lib/workspace/index.ts'
import {sharedEnvironments} from './environments.ts'
import {startLocalRack, type TestLocalRack} from './local-rack.ts'
import {throughJson} from './through-json.ts'

/** A local rack with a project on this machine, for tests that train. */
export interface TrainRack {
  rack: TestLocalRack
  /** The project's folder, in one that goes with it: for what a test's program and the test say to each other. */
  folder: string
  manifest(parts?: Partial<TrainSpec> & {requirements?: string; workspace?: Partial<WorkspaceSpec>}): Promise<Manifest>
  /** Writes the script and trains with it; without a head unless `tracking`. */
  train(script: string, parts?: TrainParts): Promise<{trained: Trained; lines: RankLine[]; news: RunNews[]}>
  /** Pids of any run's ranks or of what they started, on any node of the machine, from /proc alone. */
  alive(run: string): Promise<number[]>
  stop(): Promise<void>
}

export interface TrainParts {
  spec?: Partial<TrainSpec>
  requirements?: string
  workspace?: Partial<WorkspaceSpec>
  choice?: Partial<TrainChoice>
  data?: string[]
  detach?: boolean
  context?: Partial<Context>
  fleet?: Fleet
  rack?: Rack
  onLines?: (lines: RankLine[], run: string) => void
  onStart?: (run: string) => void
}

export async function startTrainRack(nodes: number): Promise<TrainRack> {
  const rack = await startLocalRack({nodes, environments: await sharedEnvironments()})
  const base = await mkdtemp(join(tmpdir(), 'flexrack-train-'))
  const folder = join(base, 'project')
  await mkdir(folder)
  const fleet = rack.fleet()
  const manifest: TrainRack['manifest'] = async ({requirements, workspace, ...parts} = {}) => {
    if (requirements !== undefined) await writeFile(join(folder, 'requirements.txt'), requirements)
    return {
      path: join(folder, 'flexrack.yaml'),
      folder,
      name: 'proj',
      workspace: {
        exclude: [],
        forward: [],
        env: {},
        ...(requirements !== undefined && {python: 'requirements.txt'}),
        ...workspace,
      },
      train: {
        command: ['train.py'],
        launcher: 'plain',
        nodes,
        processesPerNode: 1,
        restarts: 0,
        outputs: [],
        env: {},
        grace: 5,
        ...parts,
      },
      tracking: {experiment: 'proj'},
      endpoints: {},
    }
  }
  return {
    rack,
    folder,
    manifest,
    async train(script, parts = {}) {
      await write(join(folder, 'train.py'), script)
      const context = makeContext({env: rack.env, ...parts.context})
      const place = {
        manifest: {
          ...(await manifest({
            ...parts.spec,
            ...(parts.requirements !== undefined && {requirements: parts.requirements}),
            ...(parts.workspace && {workspace: parts.workspace}),
          })),
          ...(parts.data && {data: parts.data}),
        },
        rack: parts.rack ?? rack.rack,
        fleet: parts.fleet ?? fleet,
      }
      const plan = await planTrain(place, {args: [], tracking: false, ...parts.choice}, context)
      const lines: RankLine[] = []
      const news: RunNews[] = []
      // All that is done is what --dry-run --json prints.
      const trained = await runPlan(
        {...plan, plan: throughJson(plan.plan), workspaces: {...plan.workspaces, files: new ProjectFiles()}},
        place,
        {
          detach: parts.detach ?? false,
          onStart: (run) => parts.onStart?.(run),
          onLines: (some) => {
            lines.push(...some)
            parts.onLines?.(lines, plan.spec.run)
          },
          onNews: (one) => news.push(one),
        },
        context,
      )
      return {trained, lines, news}
    },
    alive: taggedPids,
    async stop() {
      await rack.stop()
      await rm(base, {recursive: true, force: true})
    },
  }
}

/** Lines of one rank, as text. */
export function textOf(lines: RankLine[], rank: number): string[] {
  return lines.filter((line) => line.rank === rank).map((line) => line.text)
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), {recursive: true})
  await writeFile(file, text)
}

/** Not zombies: those have no environment any more. */
async function taggedPids(run: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '')
    if (environment.split('\0').some((entry) => entry.startsWith(`FLEXRACK_TAG=${run}.`))) found.push(Number(name))
  }
  return found
}
