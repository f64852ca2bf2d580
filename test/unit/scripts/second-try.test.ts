import {mkdtemp, mkdir, rm, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {countsOf, countsOfTries, type Outcome} from '../../../scripts/testing/outcomes.ts'
import {root} from '../../../scripts/testing/run.ts'
import {openCounts} from '../../../scripts/testing/suites.ts'
import {trySecond} from '../../../scripts/testing/second-try.ts'
import {runVitest} from '../../../scripts/testing/vitest.ts'

const part = {suite: 'integration' as const, words: []}
const outcome = (name: string, status: Outcome['status'], why = ''): Outcome => ({
  place: 'a.test.ts',
  name,
  status,
  why,
  seconds: 1,
})

describe('the second try', () => {
  it('passes what passes alone, and tells it as flaky', () => {
    const counts = countsOfTries(
      [outcome('x', 'passed'), outcome('y', 'failed', 'too slow')],
      [outcome('x', 'passed'), outcome('y', 'passed')],
    )
    expect(counts).toMatchObject({passed: 2, failed: 0, trouble: [], flaky: ['a.test.ts: y: too slow']})
  })

  it('leaves a failure what fails twice, with what it said alone', () => {
    const counts = countsOfTries([outcome('y', 'failed', 'too slow')], [outcome('y', 'failed', 'wrong')])
    expect(counts).toMatchObject({passed: 0, failed: 1, trouble: ['a.test.ts: y: wrong'], flaky: []})
  })

  it('leaves a failure what does not run the second time', () => {
    expect(countsOfTries([outcome('y', 'failed', 'first')], [])).toMatchObject({
      failed: 1,
      trouble: ['a.test.ts: y: first'],
    })
    expect(countsOfTries([outcome('y', 'failed', 'first')], [outcome('y', 'skipped')])).toMatchObject({
      failed: 1,
      flaky: [],
    })
  })

  it('takes the tests of a file whose hooks failed once', () => {
    const first = [outcome('', 'failed', 'no server'), outcome('x', 'skipped'), outcome('y', 'skipped')]
    const counts = countsOfTries(first, [outcome('x', 'passed'), outcome('y', 'failed', 'wrong')])
    expect(counts).toMatchObject({
      passed: 1,
      failed: 1,
      skipped: 0,
      trouble: ['a.test.ts: y: wrong'],
      flaky: ['a.test.ts: no server'],
    })
    expect(countsOfTries(first, first)).toMatchObject({passed: 0, failed: 1, skipped: 2})
  })

  it('is not for what a sanitizer has found, nor for what was tried at random', () => {
    const found = (place: string, more: Partial<Outcome>): Outcome => ({
      ...outcome('x', 'failed', 'bad'),
      place,
      ...more,
    })
    const native = {suite: 'native' as const, words: []}
    expect(openCounts(native, [found('test_faults', {}), found('test_wire', {final: true})])).toMatchObject({
      failed: 1,
      unsettled: [{place: 'test_faults'}],
    })
    expect(openCounts({...native, env: {FLEXRACK_LONG: '1'}}, [found('test_faults', {})])).toMatchObject({
      failed: 1,
      unsettled: [],
    })
  })

  it('tells a test that fails only the second time', () => {
    expect(countsOfTries([outcome('x', 'passed')], [outcome('x', 'failed', 'odd')])).toMatchObject({
      passed: 1,
      failed: 0,
      flaky: ['a.test.ts: x: odd'],
    })
  })

  it('keeps tests of one name apart', () => {
    const first = [outcome('x', 'passed'), outcome('x', 'failed', 'wrong')]
    expect(countsOf(first)).toMatchObject({passed: 1, failed: 1})
    expect(countsOfTries(first, first)).toMatchObject({passed: 1, failed: 1})
  })

  it('runs each file alone, and none where many failed', async () => {
    const places: string[] = []
    const again = async (_part: unknown, place: string): Promise<Outcome[]> => (
      places.push(place),
      [{...outcome('y', 'passed'), place}]
    )
    const unsettled = (count: number) =>
      Array.from({length: count}, (_, index) => ({
        part,
        place: `${index}`,
        outcomes: [{...outcome('y', 'failed', 'why'), place: `${index}`}],
      }))
    expect(await trySecond(unsettled(2), again)).toMatchObject({
      passed: 2,
      failed: 0,
      flaky: ['0: y: why', '1: y: why'],
    })
    expect(places).toEqual(['0', '1'])
    expect(await trySecond(unsettled(7), again)).toMatchObject({passed: 0, failed: 7, flaky: []})
    expect(places).toHaveLength(2)
  })
})

describe('what vitest tells of a file', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flexrack-vitest-'))
    await mkdir(join(folder, 'test'))
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{"type": "module"}')
    await writeFile(
      join(folder, 'vitest.config.ts'),
      "export default {cacheDir: './cache', test: {projects: [{test: {name: 'own', include: ['test/*.test.ts']}}]}}\n",
    )
    const file = (name: string, body: string): Promise<void> =>
      writeFile(
        join(folder, 'test', `${name}.test.ts`),
        `import {afterAll, beforeAll, describe, expect, it} from 'vitest'\n${body}\n`,
      )
    await file('tests', "it('good', () => {}); it('bad', () => expect(1).toBe(2)); it.skip('left', () => {})")
    await file('before', "beforeAll(() => { throw new Error('no server') }); it('waits', () => {})")
    await file(
      'after',
      "describe('group', () => { afterAll(() => { throw new Error('no end') }); it('good', () => {}) })",
    )
    await file('broken', "throw new Error('not loaded')")
    await file(
      'leaving',
      "it('leaves', () => void setTimeout(() => { throw new Error('left behind') }))\nit('waits', () => new Promise((done) => setTimeout(done, 100)))",
    )
  })
  afterAll(() => rm(folder, {recursive: true, force: true}))

  it('is told by test, and what belongs to no test by file', async () => {
    const outcomes = await runVitest(['own'], [], {folder, isShown: false})
    const told = outcomes
      .map(({place, name, status, why}) => `${place} ${name} ${status} ${why}`.replace(/ +/g, ' ').trim())
      .sort()
    expect(told).toEqual([
      'own failed left behind',
      'test/after.test.ts failed no end',
      'test/after.test.ts group > good passed',
      'test/before.test.ts failed no server',
      'test/before.test.ts waits skipped',
      'test/broken.test.ts failed not loaded',
      'test/leaving.test.ts leaves passed',
      'test/leaving.test.ts waits passed',
      'test/tests.test.ts bad failed expected 1 to be 2 // Object.is equality',
      'test/tests.test.ts good passed',
      'test/tests.test.ts left skipped',
    ])
  })
})
