import type {Exchange} from '../../../../../src/lib/head/service/gateway/exchange.ts'
import {expect, test} from 'vitest'
import {Clients} from '../../../../../src/lib/head/service/tokens/clients.ts'
import type {Tokens} from '../../../../../src/lib/head/service/tokens/tokens.ts'

test('only so many clients are counted by name; the rest together, and names come free with their endpoint', () => {
  const clients = new Clients({whenRevoked: () => {}, has: () => true} as unknown as Tokens)
  const raw = {writableFinished: true, statusCode: 200}
  const call = (endpoint: string, index: number): void => {
    const caller = {
      kind: 'endpoint' as const,
      id: `${endpoint}-${index}`,
      endpoint,
      client: `client-${index}`,
      limits: {},
      expiresAt: Date.now() + 1000,
    }
    const ends: (() => void)[] = []
    clients.enter({caller, raw, atEnd: (work: () => void) => ends.push(work)} as unknown as Exchange, endpoint)
    for (const end of ends) end()
  }
  const named = (): number => new Set(clients.metrics().match(/endpoint="[^"]*",client="[^"]*"/g)).size
  for (let index = 0; index < 600; index++) call('digits', index)
  expect(named()).toBe(501)
  expect(clients.metrics()).toContain('requests_total{endpoint="",client="other",code="200"} 100\n')
  expect(clients.counts('digits', 'client-3')).toEqual({inFlight: 0, requests: 1, refused: 0, tokens: 0})
  clients.forget('digits')
  call('letters', 1)
  expect(clients.metrics()).toContain('requests_total{endpoint="letters",client="client-1",code="200"} 1\n')
  expect(named()).toBe(2)
})
