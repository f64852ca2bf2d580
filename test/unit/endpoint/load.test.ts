import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterEach, describe, expect, it} from 'vitest'
import {benchText, readRates} from '../../../src/cli/endpoint/bench.ts'
import {Secret} from '../../../src/lib/base/index.ts'
import type {Call} from '../../../src/lib/endpoint/call.ts'
import type {BenchReport} from '../../../src/lib/endpoint/load/bench.ts'
import {drive, type Sample} from '../../../src/lib/endpoint/load/drive.ts'
import {figuresOf, isHeld, quantile, type LoadStep} from '../../../src/lib/endpoint/load/figures.ts'
import {benchPlot} from '../../../src/lib/endpoint/load/plot.ts'
import {Sender} from '../../../src/lib/endpoint/load/sender.ts'

/** Gaps of exactly the mean: -ln(1 - u) is 1. */
const even = (): number => 1 - Math.exp(-1)
const never = new AbortController().signal

describe('drive', () => {
  it('sends when requests are due, whether or not others were answered', async () => {
    const open: (() => void)[] = []
    const send = (): Promise<Sample> =>
      new Promise((resolve) => {
        open.push(() => resolve({first: 1, whole: 2}))
        if (open.length === 19) for (const answer of open) answer()
      })
    // 19 whole gaps of 5 ms lie in 99 ms: none of them would be sent if one waited for the first.
    const driven = await drive(send, {rate: 200, seconds: 0.099}, {signal: never, most: 100, random: even})
    expect(driven).toMatchObject({planned: 19, samples: Array.from({length: 19}, () => ({first: 1, whole: 2}))})
  })

  it('counts what is due beyond the most that may be under way as failed', async () => {
    let end: () => void = () => {}
    const all = new Promise<void>((resolve) => (end = resolve))
    setTimeout(() => end(), 150)
    const send = (): Promise<Sample> => all.then(() => ({first: 1, whole: 1}))
    const {samples} = await drive(send, {rate: 200, seconds: 0.099}, {signal: never, most: 4, random: even})
    expect(samples.filter((one) => 'failed' in one)).toHaveLength(15)
  })

  it('sends nothing more once it is stopped', async () => {
    const stop = new AbortController()
    const send = (): Promise<Sample> => {
      stop.abort()
      return Promise.resolve({first: 1, whole: 1})
    }
    const driven = await drive(send, {rate: 10, seconds: 60}, {signal: stop.signal, most: 4, random: () => 0})
    expect(driven.samples).toHaveLength(1)
  })
})

describe('figures', () => {
  it('are nearest-rank quantiles of what was answered', () => {
    expect([quantile([], 0.5), quantile([7], 0.99), quantile([1, 2, 3, 4], 0.5)]).toEqual([null, 7, 2])
    const samples: Sample[] = [
      ...Array.from({length: 98}, (_, index) => ({first: 1, whole: 98 - index})),
      {failed: 'status 503'},
      {failed: 'status 503'},
    ]
    const step = figuresOf({rate: 50, seconds: 2}, {planned: 100, samples, late: 0, seconds: 2})
    expect(step).toMatchObject({answered: 98, throughput: 49, p50: 49, p90: 89, p99: 98, failed: {'status 503': 2}})
    expect(isHeld(step)).toBe(false)
  })

  it('hold where answers come as fast as requests, as far as their number says', () => {
    const step = {sent: 1000, answered: 1000, rate: 100, throughput: 99} as LoadStep
    expect([isHeld(step), isHeld({...step, throughput: 70}), isHeld({...step, sent: 0, answered: 0})]).toEqual([
      true,
      false,
      false,
    ])
  })
})

describe('sender', () => {
  let server: Server | undefined
  afterEach(() => server?.close())

  it('sends the body with the token, keeps connections, and says why there is no answer', async () => {
    const seen: string[] = []
    const sockets = new Set<unknown>()
    server = createServer((request, response) => {
      sockets.add(request.socket)
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        seen.push(`${request.url} ${request.headers.authorization} ${Buffer.concat(parts).toString()}`)
        if (seen.length === 3) return // no answer
        response.writeHead(seen.length === 2 ? 503 : 200).end('{}')
      })
    })
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/endpoints/a`
    const call = {path: '/v2/models/a/infer', type: 'application/json', body: Buffer.from('[1]')} as Call
    const sender = new Sender({url, ca: undefined, token: new Secret('geheim')}, call, 1000)
    try {
      const [one, two, three] = [await sender.send(never), await sender.send(never), await sender.send(never)]
      expect([one, two, three]).toEqual([
        {first: expect.any(Number) as number, whole: expect.any(Number) as number},
        {failed: 'status 503'},
        {failed: 'no answer in time'},
      ])
      expect(seen[0]).toBe('/endpoints/a/v2/models/a/infer Bearer geheim [1]')
      expect(sockets.size).toBe(1)
    } finally {
      sender.close()
    }
  })
})

describe('what people read', () => {
  const step = {rate: 50, sent: 100, answered: 98, throughput: 49, p50: 4, p90: 8, p99: 9.5, max: 12, first: 3}
  const report: BenchReport = {
    endpoint: 'digits',
    model: 'digits/3',
    release: 'r2',
    servers: 2,
    way: 'ssh',
    bytes: 2048,
    alone: 3.5,
    seconds: 2,
    steps: [
      {...step, rate: 25, sent: 50, answered: 50, failed: {}, late: 0},
      {...step, failed: {'status 503': 2}, late: 0},
    ],
    holds: 25,
  }

  it('is a table with what it kept up with, and a picture', () => {
    const text = benchText(report)
    expect(text).toContain('2 of 100: status 503')
    expect(text).toContain('through SSH')
    expect(text).toContain('It kept up with 25 requests a second: 99 % of the answers in 9.5 ms.')
    expect(benchPlot(report)).toMatch(/^<svg [^]*Latency of digits[^]*p99[^]*<\/svg>\n$/)
  })

  it('takes rates that are numbers, and no others', () => {
    expect(readRates('50, 0.5')).toEqual([50, 0.5])
    for (const wrong of ['', '50,', '-1', '0', '1e9', 'fast']) expect(() => readRates(wrong)).toThrow('is no rate')
  })
})
