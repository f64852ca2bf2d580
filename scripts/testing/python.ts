import {noCounts, type Counts} from './counts.ts'
import type {Outcome} from './outcomes.ts'
import {run} from './run.ts'

/** A runner whose last line is its counts, as far as it knows them. */
export async function countPython(words: string[], env: Record<string, string> = {}): Promise<Counts> {
  return {...noCounts(), ...((await lastLine(words, env)) as Partial<Counts>)}
}

/** The tests of the node program. `isAlone`: one module after the other. */
export async function runNode(modules: string[], {env = {}, isAlone = false}: {env?: Record<string, string>; isAlone?: boolean} = {}): Promise<Outcome[]> {
  return (await lastLine(['-W', 'error::ResourceWarning', 'test/node/run.py', ...(isAlone ? ['--alone'] : []), ...modules], env)) as Outcome[]
}

async function lastLine(words: string[], env: Record<string, string>): Promise<unknown> {
  const {stdout} = await run('python3', words, {capture: true, env})
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}
