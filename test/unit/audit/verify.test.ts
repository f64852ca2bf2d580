import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {readAudit, verifyAudit} from '../../../src/lib/audit/index.ts'
import type {Context} from '../../../src/lib/base/index.ts'
import type {HeadConnection} from '../../../src/lib/head/index.ts'
import {FIRST_HASH, link} from '../../../src/lib/chain/index.ts'

let state: string
beforeAll(async () => (state = await mkdtemp(join(tmpdir(), 'flexrack-verify-'))))
afterAll(() => rm(state, {recursive: true, force: true}))

const context = (): Context => ({env: {XDG_STATE_HOME: state}}) as unknown as Context
/** A head whose log is in parts of two lines. */
function headOf(lines: string[]): Pick<HeadConnection, 'request'> {
  const parts = Array.from({length: Math.ceil(lines.length / 2)}, (_, at) => lines.slice(at * 2, at * 2 + 2))
  const request = (_method: string, path: string): Promise<unknown> => {
    const [, number] = /audit\/(\d+)$/.exec(path) ?? []
    return Promise.resolve(
      number === undefined
        ? {segments: parts.map((_, at) => ({number: at + 1}))}
        : {text: `${parts[Number(number) - 1]!.join('\n')}\n`},
    )
  }
  return {request: request as HeadConnection['request']}
}
const hashes: string[] = [FIRST_HASH]
const lines = ['alice', 'bob', 'alice', 'carol', 'alice'].map((name, at) => {
  const more = name === 'bob' ? {error: 'no'} : {outcome: 'done'}
  const {line, hash} = link({
    seq: at + 1,
    at: 1000 * at,
    who: 'admin',
    says: `${name}@lab`,
    action: 'token.issue',
    target: `run ${at}`,
    ...more,
    before: hashes.at(-1)!,
  })
  hashes.push(hash)
  return line
})

test('the end that was seen here tells that a log was cut', async () => {
  const check = await verifyAudit('lab', headOf(lines), undefined, context())
  expect(check).toMatchObject({lines: 5, faults: [], last: {seq: 5, hash: hashes[5]}})
  const cut = await verifyAudit('lab', headOf(lines.slice(0, 3)), undefined, context())
  expect(cut.faults).toEqual([{seq: 5, what: expect.stringContaining('its end was cut off')}])
  expect((await verifyAudit('other', headOf(lines.slice(0, 3)), undefined, context())).faults).toEqual([])
  const given = {seq: 5, hash: hashes[5]!}
  expect((await verifyAudit('third', headOf(lines.slice(0, 3)), given, context())).faults).toHaveLength(1)
})

test('a log without its beginning holds where a line says which lines were let go', async () => {
  const [rest, last] = [lines.slice(2), hashes[5]!]
  expect((await verifyAudit('old', headOf(rest), undefined, context())).faults).toMatchObject([{seq: 3}])
  const told = link({
    seq: 6,
    who: 'head',
    action: 'audit.forget',
    target: 'lines up to 2',
    outcome: `the last one was ${hashes[2]}`,
    before: last,
  })
  expect((await verifyAudit('old', headOf([...rest, told.line]), undefined, context())).faults).toEqual([])
})

test('lines are chosen by who, what and when, in the order in which they were written', async () => {
  const targets = async (filter: object): Promise<string[]> =>
    (await readAudit(headOf(lines), {most: 9, ...filter})).map((one) => one.target)
  expect(await targets({who: 'alice'})).toEqual(['run 0', 'run 2', 'run 4'])
  expect(await targets({who: 'alice', most: 2})).toEqual(['run 2', 'run 4'])
  expect(await targets({refused: true})).toEqual(['run 1'])
  expect(await targets({since: 3})).toEqual(['run 3', 'run 4'])
  expect(await targets({action: 'token'})).toHaveLength(5)
  expect(await targets({action: 'tok'})).toEqual([])
})
