import {expect, test} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import type {HeadConnection} from '../../../src/lib/head/index.ts'
import {openDesk} from '../../../src/lib/holding/index.ts'

const nowhere = {rack: undefined as never, fleet: undefined as never}

test('a connection that is there is used for all that is asked, and is left open', async () => {
  const asked: [string, string, unknown][] = []
  const close = (): never => {
    throw new Error('it is not the desk that opened it')
  }
  const request = async (...call: [string, string, unknown]): Promise<object> => {
    asked.push(call)
    return {sums: []}
  }
  const head = {quotas: true, request, close} as unknown as HeadConnection
  const desk = await openDesk(nowhere, makeContext({}), head)
  await desk?.kept({node: 'n1', owner: 'o', project: 'digits', bytes: 0})
  await desk?.release({kind: 'data', project: 'digits'}, ['a'])
  expect(asked.map(([method, path]) => `${method} ${path}`)).toEqual([
    'POST /flexrack/v1/holdings/kept',
    'POST /flexrack/v1/holdings/release',
  ])
  expect(await openDesk(nowhere, makeContext({}), {...head, quotas: false})).toBeUndefined()
})
