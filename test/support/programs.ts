import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {expect} from 'vitest'
import type {TrackedRun} from '../../src/lib/tracking/index.ts'
import {startScript, type TestHead} from './head.ts'
import {startRelay} from './relay.ts'

const PROGRAMS = fileURLToPath(new URL('../fixtures/tracking/frameworks.py', import.meta.url))
const PAGE = fileURLToPath(new URL('../../docs/trackers.md', import.meta.url))

/** What the tracking server has of a program that ran as a rank of a run. */
export interface Played {
  run: TrackedRun
  nested: TrackedRun[]
  /** Names of the models that were logged to the run. */
  models: string[]
  /** Paths of the run's artifacts. */
  files: string[]
}

/**
 * Plays a program of fixtures/tracking/frameworks.py as ranks of a run, through a relay. Fails where it asks for what
 * docs/trackers.md does not name.
 */
export async function playProgram(head: TestHead, python: string, program: string, ranks = 1): Promise<Played> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-program-'))
  const experiment = (await head.mlflow.ensureExperiment('programs')).id
  const {id} = await head.mlflow.createRun({experimentId: experiment, name: program, tags: {'flexrack.run': program}})
  const {token} = await head.connection.request<{token: string}>('POST', '/flexrack/v1/tokens', {
    kind: 'run',
    run_id: id,
    experiment_id: experiment,
    ttl_seconds: 3600,
  })
  const relay = await startRelay({
    spool: join(folder, 'spool'),
    upstream: head.connection.nodeUri,
    caFile: head.caFile,
    token,
    runId: id,
  })
  try {
    const known = await documentedCalls(program)
    const asked = await Promise.all(
      Array.from({length: ranks}, (_, rank) =>
        callsOf(
          startScript(python, PROGRAMS, [program], {
            RANK: String(rank),
            WORLD_SIZE: String(ranks),
            MLFLOW_TRACKING_URI: relay.uri,
            MLFLOW_TRACKING_TOKEN: `${token}.1.${rank}`,
            MLFLOW_RUN_ID: id,
            MLFLOW_EXPERIMENT_ID: experiment,
          }),
        ),
      ),
    )
    expect(
      [...new Set(asked.flat())].filter((call) => !known.includes(call)),
      `calls of ${program} that ${PAGE} does not name`,
    ).toEqual([])
    expect(await relay.close()).toMatchObject({pending: 0, rejected: 0})
    const run = await head.mlflow.getRun(id)
    const nested = await head.mlflow.searchRuns({
      experimentIds: [experiment],
      filter: `tags.\`mlflow.parentRunId\` = '${id}'`,
    })
    const models = (await head.mlflow.loggedModels(experiment, id)).map((model) => model.name)
    return {run, nested, models, files: (await head.mlflow.walkArtifacts(id)).map((file) => file.path)}
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

async function callsOf(child: ReturnType<typeof startScript>): Promise<string[]> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const calls = /^calls: (.+)$/m.exec(output)?.[1]
  if (code !== 0 || calls === undefined) throw new Error(`the program ended with ${code}:\n${output.slice(-5000)}`)
  return JSON.parse(calls) as string[]
}

/**
 * The calls in the row of a program in the page's table, groups spelled out: a group is a line such as `- *model*: POST
 * x, PUT y`.
 */
async function documentedCalls(program: string): Promise<string[]> {
  const lines = (await readFile(PAGE, 'utf8')).replaceAll(/\n {2}(?=\S)/g, ' ').split('\n')
  const groups = new Map<string, string>()
  for (const line of lines) {
    const [, group, calls] = /^- \*(\w+)\*: (.+)$/.exec(line) ?? []
    if (group && calls) groups.set(group, calls)
  }
  const row = lines.find((line) => line.startsWith(`| \`${program}\` |`))
  if (row === undefined) throw new Error(`${PAGE} has no row for ${program}`)
  const words = (row.split('|')[4] ?? '').split(', ').map((word) => word.trim())
  return words.flatMap((word) => groups.get(word.replaceAll('*', ''))?.split(', ') ?? [word])
}
