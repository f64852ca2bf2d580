import OpenAI from 'openai'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {tinyGguf} from '../../support/gguf.ts'

let site: EndpointRack
let client: OpenAI

beforeAll(async () => {
  site = await startEndpointRack({nodes: 1})
  await site.run('tiny', {'tiny.gguf': tinyGguf(), 'notes.txt': Buffer.from('random weights')})
  await site.run('pooled', {'pooled.gguf': tinyGguf(1, {pooled: true})})
  for (const [name, run] of [
    ['chat', 'tiny'],
    ['embed', 'pooled'],
  ] as const)
    await site.models.register(await site.models.findRegistration({name, run}))
}, 120_000)
afterAll(() => site?.stop())

async function clientOf(name: string): Promise<OpenAI> {
  const apiKey = (await site.endpoints.token(name)).reveal()
  return new OpenAI({baseURL: `${site.tracking.mlflow.uri}/endpoints/${name}/v1`, apiKey, maxRetries: 0})
}

const talk = {model: 'chat', messages: [{role: 'user' as const, content: 'Hello'}], temperature: 0, max_tokens: 8}

test('a GGUF file is served by llama.cpp, which nobody had to name', async () => {
  const {endpoint, document} = await site.endpoints.deploy({name: 'chat'})
  expect(endpoint).toMatchObject({state: 'serving', protocol: 'openai'})
  expect(document.releases[0]).toMatchObject({runtime: 'llamacpp', health: '/health'})
  client = await clientOf('chat')
  expect((await client.models.list()).data.map(({id}) => id)).toEqual(['chat'])
}, 300_000)

test("OpenAI's own client gets the same words at once and one by one", async () => {
  const whole = await client.chat.completions.create(talk)
  expect(whole.usage?.completion_tokens).toBe(8)
  const parts: string[] = []
  let reason: string | null | undefined
  for await (const part of await client.chat.completions.create({...talk, stream: true})) {
    parts.push(part.choices[0]?.delta.content ?? '')
    reason = part.choices[0]?.finish_reason
  }
  expect(reason).toBe('length')
  expect(parts.filter(Boolean).length).toBeGreaterThan(1)
  expect(parts.join('')).toBe(whole.choices[0]?.message.content)
  const completed = await client.completions.create({model: 'chat', prompt: '1, 2, ', max_tokens: 4, temperature: 0})
  expect(completed.choices[0]).toMatchObject({finish_reason: 'length'})
})

test('a reader that goes away ends the generation, and the server answers others meanwhile', async () => {
  const reader = new AbortController()
  const long = {model: 'chat', prompt: 'x', max_tokens: 200, temperature: 0, stream: true as const}
  const [, whole] = await Promise.all([
    (async () => {
      for await (const _ of await client.completions.create(long, {signal: reader.signal})) reader.abort()
    })(),
    client.chat.completions.create(talk),
  ])
  expect(whole.usage?.completion_tokens).toBe(8)
  await expect
    .poll(async () => (await site.endpoints.show('chat')).servers.map(({state, inFlight}) => [state, inFlight]))
    .toEqual([['running', 0]])
})

test('what llama.cpp cannot do is told in its own words, and its settings are closed', async () => {
  await expect(client.embeddings.create({model: 'chat', input: 'x'})).rejects.toMatchObject({status: 501})
  await expect(client.chat.completions.create({...talk, messages: 'Hello' as never})).rejects.toMatchObject({
    status: 400,
  })
  const {servers} = await site.endpoints.show('chat')
  expect((await fetch(`${servers[0]?.url}/props`, {method: 'POST', body: '{}'})).status).toBeGreaterThanOrEqual(400)
  expect((await fetch(`${servers[0]?.url}/slots`)).status).toBeGreaterThanOrEqual(400)
})

test('a model that says how it pools gives embeddings: of length one, of the same text the same', async () => {
  await site.endpoints.deploy({name: 'embed'})
  const embed = await clientOf('embed')
  const {data, usage} = await embed.embeddings.create({model: 'embed', input: ['Hello', 'Hello', 'Bonjour']})
  const [one, same, other] = data.map(({embedding}) => embedding) as [number[], number[], number[]]
  const product = (a: number[], b: number[]): number => a.reduce((sum, value, at) => sum + value * b[at]!, 0)
  expect(one).toHaveLength(32)
  expect([product(one, one), product(one, same)]).toEqual([expect.closeTo(1, 4), expect.closeTo(1, 4)])
  expect(product(one, other)).toBeLessThan(0.999)
  expect(usage.prompt_tokens).toBeGreaterThan(0)
})
