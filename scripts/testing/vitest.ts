import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Outcome} from './outcomes.ts'
import {bin, root, run} from './run.ts'

/**
 * Files at a time of those that wait for real servers: with two, two cores have nothing to do for a third of the time.
 */
const WAITING = 4

export interface VitestOptions {
  env?: Record<string, string>
  /** One file after the other. */
  isAlone?: boolean
  /** Whose vitest.config.ts it is. */
  folder?: string
  isShown?: boolean
  /** A descriptor that gets what is shown. */
  output?: number
}

/**
 * The files of these projects, mixed. `words` are parts of files' paths; none means all files. Throws where vitest ends
 * before it has told what the tests came to.
 */
export async function runVitest(
  projects: string[],
  words: string[],
  {env, isAlone = false, folder = root, isShown = true, output}: VitestOptions = {},
): Promise<Outcome[]> {
  const scratch = await mkdtemp(join(tmpdir(), 'flexrack-report-'))
  const report = join(scratch, 'outcomes.json')
  const reporter = join(import.meta.dirname, 'outcomes-reporter.ts')
  try {
    const workers = isAlone ? 1 : projects.includes('unit') ? 2 : WAITING
    const args = [
      'run',
      ...projects.flatMap((name) => ['--project', name]),
      '--maxWorkers',
      String(workers),
      '--reporter',
      'default',
      '--reporter',
      reporter,
      ...words,
    ]
    const {status} = await run(process.execPath, [bin('vitest'), ...args], {
      folder,
      isShown,
      output,
      env: {...env, FLEXRACK_OUTCOMES: report},
    })
    const text = await readFile(report, 'utf8').catch(() => '')
    if (text === '') throw new Error(`vitest ended with ${status} before it had told what the tests came to`)
    const outcomes = (JSON.parse(text) as Outcome[]).map((one) => ({
      ...one,
      place: one.place || projects.join(' and '),
    }))
    const isFailed = outcomes.some((one) => one.status === 'failed')
    if (status !== 0 && !isFailed)
      outcomes.push({
        place: projects.join(' and '),
        name: '',
        status: 'failed',
        why: `vitest ended with ${status}`,
        seconds: 0,
      })
    return outcomes
  } finally {
    await rm(scratch, {recursive: true, force: true})
  }
}

/** Until `q` or Ctrl-C: again at each change, without counts. */
export async function watchVitest(project: string, words: string[]): Promise<number> {
  return (await run(process.execPath, [bin('vitest'), 'watch', '--project', project, ...words], {isInteractive: true}))
    .status
}
