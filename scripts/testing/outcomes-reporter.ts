import {writeFileSync} from 'node:fs'
import {relative} from 'node:path'
import type {Reporter, SerializedError, TestModule} from 'vitest/node'
import {keepDurations} from './longest-first.ts'
import type {Outcome} from './outcomes.ts'

/** Writes what each test came to into the file that FLEXRACK_OUTCOMES names. */
export default class OutcomesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const outcomes = modules.flatMap(outcomesOf)
    // Of no file: it is not known which test has left something behind.
    for (const error of unhandled)
      outcomes.push({place: '', name: '', status: 'failed', why: firstLine(error.message), seconds: 0})
    writeFileSync(process.env.FLEXRACK_OUTCOMES ?? '', JSON.stringify(outcomes))
    if (process.env.FLEXRACK_DURATIONS) keepDurations(modules)
  }
}

function outcomesOf(module: TestModule): Outcome[] {
  const place = relative(process.cwd(), module.moduleId)
  const tests = [...module.children.allTests()].map((test): Outcome => {
    const {state, errors} = test.result()
    return {
      place,
      name: test.fullName,
      status: state === 'pending' ? 'skipped' : state,
      why: firstLine(errors?.[0]?.message ?? ''),
      seconds: (test.diagnostic()?.duration ?? 0) / 1000,
    }
  })
  // Hooks that fail skip the tests they belong to.
  const errors = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())]
  const own = errors.length > 0 || (!module.ok() && tests.every(({status}) => status !== 'failed'))
  return own
    ? [
        {
          place,
          name: '',
          status: 'failed',
          why: firstLine(errors[0]?.message ?? 'it failed outside of its tests'),
          seconds: 0,
        },
        ...tests,
      ]
    : tests
}

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? ''
