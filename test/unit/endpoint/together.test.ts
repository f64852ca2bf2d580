import {expect, test} from 'vitest'
import {deploysOf} from '../../../src/cli/endpoint/deploy.ts'
import {CliError} from '../../../src/lib/base/index.ts'
import {newDocument, type EndpointRecord} from '../../../src/lib/endpoint/document.ts'
import {Together, type Joint} from '../../../src/lib/endpoint/together.ts'
import type {HeadConnection} from '../../../src/lib/head/index.ts'

const record: EndpointRecord = {revision: 3, document: newDocument('x', new Date(0)), inFlight: {}, served: {}}

function head(answer: () => Promise<unknown>): {head: HeadConnection; asked: unknown[]} {
  const asked: unknown[] = []
  const request = (...given: unknown[]): Promise<unknown> => {
    asked.push(given)
    return answer()
  }
  return {head: {request} as unknown as HeadConnection, asked}
}
/** All of one rack. */
const of = (connection: HeadConnection, endpoints: string[]): Joint =>
  new Together([{rack: 'lab', head: connection, endpoints}]).at('lab')
const put = (together: Joint, name: string): Promise<EndpointRecord> =>
  together.put(record, newDocument(name, new Date(0)))

test('the head is asked once, when all are ready or have nothing to change', async () => {
  const {head: connection, asked} = head(async () => ({revisions: [4, 9]}))
  const together = of(connection, ['a', 'b', 'same'])
  const first = put(together, 'a')
  const second = put(together, 'b')
  expect(asked).toEqual([])
  together.leave('same')
  expect([(await first).revision, (await second).revision]).toEqual([4, 9])
  expect(asked).toHaveLength(1)
  expect(asked[0]).toMatchObject(['PUT', '/flexrack/v1/endpoints', {changes: [{name: 'a', revision: 3}, {name: 'b'}]}])
})

test('one that fails before ends those that wait and those that come, and the head is not asked', async () => {
  const {head: connection, asked} = head(async () => ({}))
  const together = of(connection, ['a', 'b', 'c'])
  const waits = put(together, 'a')
  together.fail('b', new CliError('TIMED_OUT', 'not ready in 60 s'))
  await expect(waits).rejects.toMatchObject({code: 'TIMED_OUT', message: expect.stringContaining('endpoint b')})
  await expect(put(together, 'c')).rejects.toMatchObject({code: 'TIMED_OUT'})
  expect(together.signal.aborted).toBe(true)
  expect(asked).toEqual([])
})

test('what fails after the switch ends nobody', async () => {
  const together = of(head(async () => ({revisions: [4, 9]})).head, ['a', 'b'])
  await Promise.all([put(together, 'a'), put(together, 'b')])
  together.fail('a', new Error('an old server does not end'))
  expect(together.signal.aborted).toBe(false)
})

test('where the head refuses, all are told', async () => {
  const together = of(head(() => Promise.reject(new CliError('CONFLICT', 'changed'))).head, ['a', 'b'])
  const both = await Promise.allSettled([put(together, 'a'), put(together, 'b')])
  expect(both.map((one) => one.status)).toEqual(['rejected', 'rejected'])
})

test('one model, one canary and one name are of one endpoint', () => {
  expect(deploysOf(['a', 'b'], {force: false})).toEqual([
    {name: 'a', force: false},
    {name: 'b', force: false},
  ])
  expect(() => deploysOf(['a', 'b'], {force: false, model: 'm'})).toThrow('--model')
  expect(() => deploysOf(['a', 'a'], {force: false})).toThrow('twice')
})
