import {expect, test} from 'vitest'
import {corsOf, withCors} from '../../../src/lib/endpoint/cors.ts'
import {newDocument, switchTo, type Release} from '../../../src/lib/endpoint/document.ts'
import {transitionPlan} from '../../../src/lib/endpoint/plan.ts'
import type {Site} from '../../../src/lib/endpoint/site.ts'

const APP = 'https://app.example'
const document = newDocument('digits', new Date(0))
const site = (cors?: string[]): Site =>
  ({manifest: {endpoints: {digits: {model: 'digits', replicas: 1, ...(cors && {cors})}}}}) as unknown as Site

test('what the manifest says of pages is told where it is another than before; who has no manifest changes nothing', () => {
  const open = withCors(document, [APP])
  expect(corsOf(site([APP]), document, 'digits')).toEqual([APP])
  expect(corsOf(site([APP]), open, 'digits')).toBeUndefined()
  expect(corsOf(site(), open, 'digits')).toEqual([])
  expect(corsOf(site(), document, 'digits')).toBeUndefined()
  expect(corsOf({} as Site, open, 'digits')).toBeUndefined()
  expect(corsOf(site([APP]), document, 'other')).toBeUndefined()
})

test("it is the endpoint's: another release has it, too, until it is taken away", () => {
  const release = {id: 'r2', replicas: []} as unknown as Release
  const next = switchTo(withCors(document, [APP]), release, new Date(0), false)
  expect(next).toMatchObject({active: {release: 'r2'}, cors: [APP]})
  expect(withCors(next, undefined)).toBe(next)
  expect('cors' in withCors(next, [])).toBe(false)
})

test('a plan that only tells of pages starts and ends nothing, and says what it tells', () => {
  const change = {command: 'endpoint deploy', endpoint: 'digits', headNode: 'head', fetch: false, asksModel: false}
  const release = {id: 'r1', model: {name: 'digits', version: '1', files: []}, replicas: []} as unknown as Release
  const plan = transitionPlan({...change, release, start: [], stop: [], cors: [APP]})
  expect(plan.steps).toMatchObject([
    {
      kind: 'endpoint.switch',
      title: `Send requests of endpoint digits to release r1; pages of ${APP} may call it`,
      input: {cors: [APP], ready: []},
    },
  ])
})
