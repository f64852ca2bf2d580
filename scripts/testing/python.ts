import {noCounts, type Counts} from './counts.ts'
import type {Outcome} from './outcomes.ts'
import {run, type RunOptions} from './run.ts'

export interface PythonOptions extends Pick<RunOptions, 'env' | 'niceness' | 'errors'> {}

/** A runner whose last line is its counts, as far as it knows them. */
export async function countPython(words: string[], options: PythonOptions = {}): Promise<Counts> {
  return {...noCounts(), ...((await lastLine(words, options)) as Partial<Counts>)}
}

/** The tests of the node program. `isAlone`: one module after the other. */
export async function runNode(modules: string[], {env, isAlone = false}: {env?: Record<string, string>; isAlone?: boolean} = {}): Promise<Outcome[]> {
  return (await lastLine(['-W', 'error::ResourceWarning', 'test/node/run.py', ...(isAlone ? ['--alone'] : []), ...modules], {env})) as Outcome[]
}

async function lastLine(words: string[], options: PythonOptions): Promise<unknown> {
  const {stdout} = await run('python3', words, {...options, capture: true})
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}
