import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, relative} from 'node:path'
import type {Counts, Slow} from './counts.ts'
import {bin, root, run} from './run.ts'

interface TestReport {
  fullName: string
  status: string
  /** Milliseconds. */
  duration?: number
  /** Of a test that passed: what its first try said. */
  failureMessages: string[]
}

/** What vitest's JSON report says of a file. */
interface FileReport {
  name: string
  status: string
  message: string
  assertionResults: TestReport[]
}

interface Report {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  testResults: FileReport[]
}

/** `words` are parts of files' paths; none means all files. */
export async function runVitest(project: string, words: string[], env: Record<string, string> = {}): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-report-'))
  const report = join(folder, 'report.json')
  try {
    const {status} = await run(process.execPath, [bin('vitest'), 'run', '--project', project, '--reporter', 'default', '--reporter', 'json', '--outputFile', report, ...words], {env})
    return countsOf(JSON.parse(await readFile(report, 'utf8')) as Report, status)
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

/** Until Ctrl-C: again at each change, without counts. */
export async function watchVitest(project: string, words: string[]): Promise<number> {
  return (await run(process.execPath, [bin('vitest'), 'watch', '--project', project, ...words])).status
}

function countsOf(found: Report, status: number): Counts {
  const tests = found.testResults.flatMap((file) => file.assertionResults.map((test) => ({...test, name: `${relative(root, file.name)}: ${test.fullName}`})))
  return {
    passed: found.numPassedTests,
    // A file that does not load has no failed test in it, yet it is a failure.
    failed: Math.max(found.numFailedTests, status === 0 ? 0 : 1),
    skipped: found.numPendingTests,
    trouble: found.testResults.flatMap(troubleOf),
    flaky: tests.filter((test) => test.status === 'passed' && test.failureMessages.length > 0).map((test) => `${test.name}: ${firstLine(test.failureMessages[0] ?? '')}`),
    slow: tests.map((test): Slow => [test.name, (test.duration ?? 0) / 1000]),
  }
}

/** Hooks that fail skip all tests of their file, and only the file's message says why. */
function troubleOf(file: FileReport): string[] {
  const name = relative(root, file.name)
  const tests = file.assertionResults.filter(({status}) => status !== 'passed')
  const ofFile = file.status === 'failed' && file.message ? [`${name}: ${firstLine(file.message)}`] : []
  const failed = tests.filter(({status}) => status === 'failed').map((test) => `${name}: ${test.fullName}: ${firstLine(test.failureMessages[0] ?? '')}`)
  const skipped = tests.length - failed.length
  return [...ofFile, ...failed, ...(skipped > 0 ? [`${name}: ${skipped} skipped`] : [])]
}

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? ''
