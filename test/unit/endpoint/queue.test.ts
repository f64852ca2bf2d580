import {expect, test} from 'vitest'
import {limitText, readLimits} from '../../../src/cli/endpoint/limit.ts'
import {changeQueue, planQueue} from '../../../src/lib/endpoint/queue.ts'
import type {Site} from '../../../src/lib/endpoint/site.ts'

function siteWith(document: object): {site: Site; written: unknown[]} {
  const written: unknown[] = []
  const head = {
    request: (method: string, path: string, body?: {document?: unknown}) => {
      if (path.includes('/locks/')) return Promise.resolve({fence: 1})
      if (method === 'PUT') written.push(body)
      return Promise.resolve(method === 'PUT' ? {revision: 4} : {revision: 3, document})
    },
  }
  const context = {signal: new AbortController().signal, reporter: {step: () => ({done: () => {}}), note: () => {}}}
  return {site: {head, rack: {head: {node: 'n1'}}, context} as unknown as Site, written}
}

test('limits are put over those that hold, and nothing else of the endpoint is touched', async () => {
  const before = {name: 'digits', active: null, releases: [], queue: {concurrency: 4, seconds: 30}}
  const {site, written} = siteWith(before)
  const plan = await planQueue(site, 'digits', readLimits({queue: 200, concurrency: 8}))
  expect(plan.steps[0]).toMatchObject({
    title: 'Requests of endpoint digits: 8 at a server at once, 200 wait at most, for 30 s at most',
  })
  expect(written).toEqual([])
  expect(JSON.parse(JSON.stringify(plan))).toEqual(plan)
})

test('a change writes the document over the revision that was read', async () => {
  const before = {name: 'digits', active: null, releases: [], queue: {seconds: 30}}
  const {site, written} = siteWith(before)
  const change = await changeQueue(site, 'digits', {concurrency: 8})
  expect(written).toEqual([{revision: 3, document: {...before, queue: {seconds: 30, concurrency: 8}}}])
  expect(limitText(change)).toBe('Requests of endpoint digits: a server gets 8 at once, none longer than 30 s.')
})

test('no flag is no change', () => {
  expect(() => readLimits({})).toThrow('nothing is to be limited')
})
