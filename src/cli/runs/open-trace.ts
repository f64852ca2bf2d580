import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {CliError, type Context} from '../../lib/base/index.ts'
import type {RunProfile, Runs} from '../../lib/runs/index.ts'

export interface TraceLink {
  run: string
  rank: number
  url: string
}

/**
 * Shows the trace of a rank, that of the slowest where there are several, until Ctrl-C; it lies in a folder of its own
 * meanwhile. Errors: NOT_FOUND where there is none.
 */
export async function openTrace(
  runs: Runs,
  profile: RunProfile,
  {port, browse}: {port: number | undefined; browse: (url: string) => Promise<() => Promise<void>>},
  follow: <T>(value: T, text: (value: T) => string) => void,
  context: Context,
): Promise<void> {
  const {run, ranks, slowest, live} = profile
  const made = ranks.filter(({path}) => path !== null)
  const chosen = made.find(({rank}) => rank === slowest) ?? made[0]
  if (!chosen)
    throw new CliError(
      'NOT_FOUND',
      `there is no trace ${ranks.length === 1 ? `of rank ${ranks[0]?.rank} ` : ''}of ${run}${live ? ' yet' : ''}`,
      {hint: `flexrack runs profile ${run}`},
    )
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-trace-'))
  try {
    const [trace] = await runs.bringTraces({run, ranks: [chosen]}, folder)
    const page = await runs.openTrace(trace as string, {port, title: `${run}, rank ${chosen.rank}`})
    let closeBrowser: (() => Promise<void>) | undefined
    try {
      follow({run, rank: chosen.rank, url: page.url}, linkText)
      closeBrowser = await browse(page.url)
      if (!context.signal.aborted)
        await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve(), {once: true}))
    } finally {
      await closeBrowser?.()
      await page.close()
    }
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

function linkText({url, rank}: TraceLink): string {
  return `${url}\nThe trace of rank ${rank}. Ctrl-C ends the page.`
}
