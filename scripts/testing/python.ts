import type {Outcome} from './outcomes.ts'
import {run, type RunOptions} from './run.ts'

export interface PythonOptions extends Pick<RunOptions, 'env' | 'niceness' | 'output'> {
  /** One module after the other. */
  isAlone?: boolean
}

/** The tests of the node program. */
export function runNode(modules: string[], {isAlone = false, ...options}: PythonOptions = {}): Promise<Outcome[]> {
  return lastLine(
    ['-W', 'error::ResourceWarning', 'test/node/run.py', ...(isAlone ? ['--alone'] : []), ...modules],
    options,
  )
}

/** Those of the native layer, which is built. `words` are what its runner takes. */
export function runNative(words: string[], {isAlone = false, ...options}: PythonOptions = {}): Promise<Outcome[]> {
  return lastLine(['test/native/run.py', '--no-build', ...(isAlone ? ['--alone'] : []), ...words], options)
}

async function lastLine(words: string[], options: PythonOptions): Promise<Outcome[]> {
  const {stdout} = await run('python3', words, {...options, capture: true})
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Outcome[]
}
