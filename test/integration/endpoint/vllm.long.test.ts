import OpenAI from 'openai'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {tinyAdapter, tinyLlama} from '../../support/hf-llama.ts'

let site: EndpointRack

beforeAll(async () => {
  site = await startEndpointRack({nodes: 1})
  const options = Buffer.from('max-model-len: 256\ndtype: float32\n')
  await site.run('llama', {...tinyLlama('llama'), ...tinyAdapter('llama/adapters/other'), 'llama/vllm.yaml': options})
  await site.models.register(await site.models.findRegistration({name: 'chat', run: 'llama', path: 'llama/'}))
}, 300_000)
afterAll(() => site?.stop())

// The environment is 2 GB, and its first import of vLLM takes minutes on two cores.
test('vLLM serves a model, and a LoRA adapter by its name', async () => {
  const {endpoint, document} = await site.endpoints.deploy({name: 'chat'})
  expect(endpoint).toMatchObject({state: 'serving', protocol: 'openai'})
  expect(document.releases[0]).toMatchObject({runtime: 'vllm'})
  const client = new OpenAI({
    baseURL: `${site.tracking.mlflow.uri}/endpoints/chat/v1`,
    apiKey: (await site.endpoints.token('chat')).reveal(),
    maxRetries: 0,
  })
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
}, 2_700_000)
