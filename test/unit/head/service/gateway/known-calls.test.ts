import {expect, test} from 'vitest'
import {KnownCalls} from '../../../../../src/lib/head/service/gateway/known-calls.ts'

const INFER = '/endpoints/digits/v2/models/digits/infer'

test('what a URL asks for is read once, and stays the same', () => {
  const calls = new KnownCalls()
  const served = {protocol: 'v2' as const}
  const ask = () => calls.callOf(calls.placeOf(INFER), INFER, 'POST', served)
  const first = ask()
  expect(first).toMatchObject({endpoint: 'digits', path: '/v2/models/digits/infer', isHealth: false})
  expect(ask()).toBe(first)
})

test('another document, and another method, is read anew', () => {
  const calls = new KnownCalls()
  const url = '/endpoints/digits/health'
  const ask = (method: string, health: string) => calls.callOf(calls.placeOf(url), url, method, {health})
  expect(ask('GET', '/old').path).toBe('/old')
  expect(ask('GET', '/new').path).toBe('/new')
  expect(() => ask('POST', '/new')).toThrow('answers health')
  const served = {protocol: 'openai' as const}
  expect(calls.callOf(calls.placeOf('/endpoints/a/v1/models'), '/endpoints/a/v1/models', 'GET', served).path).toBe(
    '/v1/models',
  )
  const asked = () => calls.callOf(calls.placeOf(INFER), INFER, 'POST', served)
  calls.callOf(calls.placeOf(INFER), INFER, 'POST', {protocol: 'v2'})
  expect(asked).toThrow('answers health') // its protocol is another one now
})

test('what is refused is refused each time', () => {
  const calls = new KnownCalls()
  const other = '/endpoints/digits/v2/models/other/infer'
  for (const _ of [1, 2]) {
    expect(() => calls.placeOf('/endpoints/digits/v2/../x')).toThrow('plain form')
    expect(() => calls.placeOf(`${INFER}?a=%zz`)).toThrow('percent-encoded')
    expect(() => calls.callOf(calls.placeOf(other), other, 'POST', {})).toThrow('answers health')
  }
})

test('a query is not kept, and does not change the call', () => {
  const calls = new KnownCalls()
  const url = `${INFER}?id=1`
  const [first, second] = [calls.placeOf(url), calls.placeOf(url)]
  expect(calls.callOf(first, url, 'POST').path).toBe('/v2/models/digits/infer')
  calls.callOf(second, url, 'POST')
  expect(calls.placeOf(url)).not.toBe(second)
})

test('there is a bound to what is known', () => {
  const calls = new KnownCalls()
  const urlOf = (index: number) => `/endpoints/e${index}/v2`
  const kept = Array.from({length: 1500}, (_, index) => urlOf(index)).map((url) => {
    const place = calls.placeOf(url)
    calls.callOf(place, url, 'GET')
    return {url, place}
  })
  const known = kept.filter(({url, place}) => calls.placeOf(url) === place)
  expect(known).toHaveLength(500)
})
