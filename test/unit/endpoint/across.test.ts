import {expect, test} from 'vitest'
import {CliError} from '../../../src/lib/base/index.ts'
import {switchAcross, type Part} from '../../../src/lib/endpoint/across.ts'
import {newDocument} from '../../../src/lib/endpoint/document.ts'

/** A head that decides: it answers the decision with a conflict, and has decided `state`. */
function partsOf(state: 'committed' | 'dropped'): {parts: Part[]; told: string[]} {
  const told: string[] = []
  const part = (rack: string): Part => ({
    rack,
    changes: [{record: {revision: 1}, document: newDocument('digits', new Date(0))}],
    head: {
      nodeUri: 'https://127.0.0.1:1',
      request: async (method: string, path: string, body?: {decision?: string}) => {
        if (path.endsWith('/decision') && rack === 'lab') throw new CliError('CONFLICT', 'another one was faster')
        if (path.endsWith('/decision')) told.push(body!.decision!)
        return {token: 't', state: method === 'GET' ? state : 'promised'}
      },
    } as unknown as Part['head'],
  })
  return {parts: [part('lab'), part('edge')], told}
}

test('a conflict of the head that decides says nothing of what it has decided: it is asked', async () => {
  const {parts, told} = partsOf('committed')
  const results = await switchAcross(parts)
  expect(results.map(({status}) => status)).toEqual(['fulfilled', 'fulfilled'])
  expect(told).toEqual(['committed'])
})

test('where it has dropped the switch the others are told that', async () => {
  const {parts, told} = partsOf('dropped')
  await expect(switchAcross(parts)).rejects.toThrow('so nothing was switched')
  expect(told).toEqual(['dropped'])
})
