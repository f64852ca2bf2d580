import {appendFile, mkdtemp, readdir, readFile, rm, utimes, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {checkChain} from '../../../../../src/lib/chain/index.ts'
import {Audit} from '../../../../../src/lib/head/service/audit/audit.ts'

let folder: string
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'flexrack-audit-'))))
afterEach(() => rm(folder, {recursive: true, force: true}))

const linesOf = async (audit: Audit): Promise<string[]> => {
  const texts = await Promise.all((await audit.segments()).map(({number}) => audit.segment(number)))
  return texts.join('').split('\n').slice(0, -1)
}
const entry = (target: string): Parameters<Audit['note']>[0] => ({who: 'admin', action: 'token.issue', target})

test('lines that come at once are one chain, and a head that starts again goes on with it', async () => {
  const first = await Audit.open(folder)
  await Promise.all(Array.from({length: 30}, (_, at) => first.note(entry(`run ${at}`))))
  const again = await Audit.open(folder)
  await again.note(entry('the last'))
  expect(checkChain(await linesOf(again))).toMatchObject({lines: 31, faults: [], last: {seq: 31}})
  expect((await again.newest(2)).map((one) => one.target)).toEqual(['the last', 'run 29'])
})

test('half a line, of a head that was killed, is cut off, and that is noted', async () => {
  const first = await Audit.open(folder)
  await first.note(entry('a'))
  await appendFile(join(folder, 'audit/000001.jsonl'), '{"seq":2,"at":1')
  const again = await Audit.open(folder)
  await again.note(entry('b'))
  expect((await again.newest(9)).map((one) => one.action)).toEqual(['token.issue', 'audit.mend', 'token.issue'])
  expect(checkChain(await linesOf(again)).faults).toEqual([])
})

test('a file that is full is closed, and the chain goes on in the next one', async () => {
  const audit = await Audit.open(folder)
  for (let at = 0; at < 3; at++) await audit.note(entry('x'.repeat(600_000)))
  expect((await readdir(join(folder, 'audit'))).sort()).toEqual(['000001.jsonl', '000002.jsonl'])
  expect(checkChain(await linesOf(audit))).toMatchObject({lines: 3, faults: []})
})

test('what is younger than a month is kept where many are noted, and what is older is let go with its hash', async () => {
  const audit = await Audit.open(folder)
  await audit.note(entry('the first'))
  const old = await readFile(join(folder, 'audit/000001.jsonl'), 'utf8')
  await rm(join(folder, 'audit/000001.jsonl'))
  for (let at = 1; at <= 70; at++) await writeFile(join(folder, `audit/${String(at).padStart(6, '0')}.jsonl`), old)
  const month = Date.now() / 1000 - 31 * 24 * 3600
  for (const at of [1, 2]) await utimes(join(folder, `audit/${String(at).padStart(6, '0')}.jsonl`), month, month)
  const again = await Audit.open(folder)
  for (let at = 0; at < 3; at++) await again.note(entry('x'.repeat(600_000)))
  const numbers = (await again.segments()).map((one) => one.number)
  expect([numbers[0], numbers.length]).toEqual([3, 69])
  const gone = (await again.newest(9)).filter((one) => one.action === 'audit.forget')
  expect(gone.map((one) => one.target)).toEqual(['lines up to 1', 'lines up to 1'])
})

test('what the page had written down before comes first, once', async () => {
  const old = {schema: 1, at: 5, owner: 'alice@lab1', login: 'x', action: 'stop', target: 'digits', outcome: 'stopped'}
  await writeFile(join(folder, 'actions.jsonl'), `${JSON.stringify(old)}\n{"half`)
  await Audit.open(folder)
  const audit = await Audit.open(folder)
  expect(await audit.newest(9)).toMatchObject([{seq: 1, at: 5, who: 'page', says: 'alice@lab1', action: 'run.stop'}])
  expect(await readFile(join(folder, 'audit/actions-before.jsonl'), 'utf8')).toContain('alice@lab1')
})

test('the same refusal again is counted and told once more', async () => {
  const audit = await Audit.open(folder)
  for (let at = 0; at < 1000; at++) await audit.refused({...entry('all'), error: 'no'})
  await audit.close()
  expect(await audit.newest(9)).toMatchObject([{error: 'no', times: 999}, {error: 'no'}])
})

test('one who is refused in many ways is counted together, and hides nobody else', async () => {
  const audit = await Audit.open(folder)
  for (let at = 0; at < 300; at++) await audit.refused({who: 'unknown', action: 'a', target: `${at}`, error: 'no'})
  await audit.refused({...entry('all'), error: 'no'})
  await audit.close()
  const noted = await audit.newest(999)
  expect(noted.filter((one) => one.who === 'admin')).toHaveLength(1)
  expect(noted.filter((one) => one.who === 'unknown').length).toBeLessThan(30)
  expect(noted.find((one) => one.target === 'several')).toMatchObject({who: 'unknown', times: 279})
})

test('a head that was killed as it began a file goes on with the chain', async () => {
  const first = await Audit.open(folder)
  await first.note(entry('a'))
  for (const begun of ['', '{"seq":2']) {
    await writeFile(join(folder, 'audit/000002.jsonl'), begun)
    const again = await Audit.open(folder)
    await again.note(entry('b'))
    expect(checkChain(await linesOf(again)).faults, begun).toEqual([])
    await rm(join(folder, 'audit/000002.jsonl'))
  }
})
