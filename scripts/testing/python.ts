import {noCounts, type Counts} from './counts.ts'
import {run} from './run.ts'

/** A runner whose last line is its counts, as far as it knows them. */
export async function runPython(words: string[], env: Record<string, string> = {}): Promise<Counts> {
  const {stdout} = await run('python3', words, {capture: true, env})
  return {...noCounts(), ...(JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Partial<Counts>)}
}
