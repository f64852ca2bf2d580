import OpenAI from 'openai'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {tinyAdapter, tinyLlama} from '../../support/hf-llama.ts'

let site: EndpointRack

beforeAll(async () => {
  site = await startEndpointRack({nodes: 1})
  const options = Buffer.from('max-model-len: 256\ndtype: float32\n')
  await site.run('llama', {...tinyLlama('llama'), ...tinyAdapter('llama/adapters/other'), 'llama/vllm.yaml': options})
  const pooled = Buffer.from('max-model-len: 256\ndtype: float32\nrunner: pooling\n')
  await site.run('pooled', {...tinyLlama('llama'), 'llama/vllm.yaml': pooled})
  for (const [name, run] of [
    ['chat', 'llama'],
    ['embed', 'pooled'],
  ] as const)
    await site.models.register(await site.models.findRegistration({name, run, path: 'llama/'}))
}, 300_000)
afterAll(() => site?.stop())

async function clientOf(name: string): Promise<OpenAI> {
  const apiKey = (await site.endpoints.token(name)).reveal()
  return new OpenAI({baseURL: `${site.tracking.mlflow.uri}/endpoints/${name}/v1`, apiKey, maxRetries: 0})
}

// The environment is 2 GB, and its first import of vLLM takes minutes on two cores.
test('vLLM serves a model, and a LoRA adapter by its name', async () => {
  const {endpoint, document} = await site.endpoints.deploy({name: 'chat'})
  expect(endpoint).toMatchObject({state: 'serving', protocol: 'openai'})
  expect(document.releases[0]).toMatchObject({runtime: 'vllm'})
  const client = await clientOf('chat')
  expect((await client.models.list()).data.map(({id}) => id)).toEqual(['chat', 'other'])
  const wanted = {prompt: 'Hello there', max_tokens: 16, temperature: 0}
  const complete = async (model: string): Promise<string | undefined> =>
    (await client.completions.create({...wanted, model})).choices[0]?.text
  const base = await complete('chat')
  const adapted = await complete('other')
  expect(adapted).not.toBe(base)
  expect(await complete('other')).toBe(adapted)
  const parts: string[] = []
  for await (const part of await client.completions.create({...wanted, model: 'chat', stream: true}))
    parts.push(part.choices[0]?.text ?? '')
  expect(parts.length).toBeGreaterThan(1)
  expect(parts.join('')).toBe(base)
  const messages = [{role: 'user' as const, content: 'Hello'}]
  const talk = await client.chat.completions.create({model: 'chat', messages, max_tokens: 4, temperature: 0})
  expect(talk.usage?.completion_tokens).toBe(4)
  await expect(client.completions.create({...wanted, model: 'nobody'})).rejects.toMatchObject({status: 404})

  // A reader that goes away in the middle: vLLM makes fewer tokens than it was asked for.
  const {servers} = await site.endpoints.show('chat')
  const metric = async (name: string): Promise<number> => {
    const metrics = await (await fetch(`${servers[0]?.url}/metrics`)).text()
    return Number(new RegExp(`^vllm:${name}(?:\\{.*\\})? ([\\d.e+]+)$`, 'm').exec(metrics)?.[1] ?? NaN)
  }
  const long = {prompt: 'Hello', max_tokens: 240, temperature: 0, model: 'chat', stream: true as const}
  const ignoring = {...long, ignore_eos: true}
  const made = async (leaves: boolean): Promise<number> => {
    const before = await metric('generation_tokens_total')
    const reader = new AbortController()
    for await (const _ of await client.completions.create(ignoring, {signal: reader.signal})) if (leaves) reader.abort()
    await expect.poll(() => metric('num_requests_running')).toBe(0)
    return (await metric('generation_tokens_total')) - before
  }
  expect(await made(false)).toBe(240)
  expect(await made(true)).toBeLessThan(200)
}, 2_700_000)

test('a model that vllm.yaml says to pool gives embeddings: of the same text the same', async () => {
  await site.endpoints.remove('chat')
  await site.endpoints.deploy({name: 'embed'})
  const client = await clientOf('embed')
  const {data, usage} = await client.embeddings.create({model: 'embed', input: ['Hello', 'Hello', 'Bonjour']})
  const [one, same, other] = data.map(({embedding}) => embedding) as [number[], number[], number[]]
  expect(one).toHaveLength(128)
  expect(one.every((value, at) => Math.abs(value - same[at]!) < 1e-4)).toBe(true)
  expect(other.some((value, at) => Math.abs(value - one[at]!) > 1e-2)).toBe(true)
  expect(usage.prompt_tokens).toBeGreaterThan(0)
}, 2_700_000)
