import {spawn} from 'node:child_process'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {until} from './two-heads.ts'

const PROGRAM = fileURLToPath(new URL('../fixtures/open-load.mjs', import.meta.url))

/** What came of the requests. Milliseconds. */
export interface LoadReport {
  sent: number
  answered: number
  /** Answered by the second address, as the first one's connection failed. */
  switched: number
  /**
   * `at`, `due`: milliseconds since 1970. `on`: a connection that was `kept` from before, its `own` that had come about,
   * or `none`.
   */
  lost: {at: number; due: number; on: 'kept' | 'own' | 'none'; why: string}[]
  ms: {p50: number; p99: number; max: number}
  /** Answers, by release. */
  releases: Record<string, number>
}

export interface OpenLoad {
  now(): LoadReport
  /** Resolves when so many more were answered. */
  more(count: number): Promise<void>
  /** Sends no more, and waits for what is under way. */
  end(): Promise<LoadReport>
}

export interface LoadWish {
  urls: string[]
  ca?: string | undefined
  token: string
  /** Requests a second on average. */
  rate: number
  seed: number
  /** Seconds after which it ends by itself, whatever becomes of the test; 1200. */
  longest?: number
  /** The model takes that many milliseconds (SCALED_SERVER). */
  takes?: number
  /** Words that the program is started by: in a network of its own. */
  inside?: string[]
}

/** Poisson arrivals from a process of its own; no request is sent twice to one address (test/fixtures/open-load.mjs). */
export async function startOpenLoad({takes = 0, inside = [], longest = 1200, ...wish}: LoadWish): Promise<OpenLoad> {
  const body = JSON.stringify({inputs: [{name: 'x', shape: [1], datatype: 'FP32', data: [takes]}]})
  const [program, ...args] = [...inside, process.execPath, PROGRAM]
  const child = spawn(program!, args, {
    env: {...process.env, LOAD: JSON.stringify({...wish, longest, body})},
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let report: LoadReport = {sent: 0, answered: 0, switched: 0, lost: [], ms: {p50: 0, p99: 0, max: 0}, releases: {}}
  const lines = createInterface({input: child.stdout}).on('line', (line) => (report = JSON.parse(line) as LoadReport))
  const more = async (count: number): Promise<void> => {
    const goal = report.answered + count
    const isThere = async (): Promise<true | undefined> => (report.answered >= goal ? true : undefined)
    await until(isThere, 120).catch((error: Error) => {
      throw new Error(`${error.message}: ${lossText('load', report)}`, {cause: error})
    })
  }
  await more(1).catch((error: unknown) => {
    child.kill('SIGKILL')
    throw error
  })
  return {
    now: () => report,
    more,
    end: async () => {
      const closed = new Promise((resolve) => lines.once('close', resolve))
      child.stdin.end()
      await closed
      return report
    },
  }
}

/** The line that a test of losses closes with. */
export function lossText(what: string, {sent, answered, switched, lost, ms}: LoadReport, more = ''): string {
  const why = [...new Set(lost.map((one) => one.why))].map(
    (word) => `${lost.filter((one) => one.why === word).length} × ${word}`,
  )
  const other = switched > 0 ? `, ${switched} of them by the other head` : ''
  return (
    `${what}: ${sent} sent, ${answered} answered${other}, ${lost.length} lost${why.length > 0 ? ` (${why.join('; ')})` : ''}; ` +
    `${ms.p50} ms at the median, ${ms.p99} ms at p99, ${ms.max} ms at most${more}`
  )
}
