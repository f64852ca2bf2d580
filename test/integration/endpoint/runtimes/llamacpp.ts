import OpenAI from 'openai'
import {beforeAll, describe, expect, test} from 'vitest'
import type {EndpointRack} from '../../../support/endpoint-rack.ts'
import {tinyGguf, tinyLora} from '../../../support/gguf.ts'

/** On a rack with a head that all of them use (runtimes.test.ts). */
export function llamacppTests(given: () => EndpointRack): void {
  describe('llama.cpp', () => {
    let site: EndpointRack
    let client: OpenAI

    beforeAll(async () => {
      site = given()
      await site.run('tiny', {'tiny.gguf': tinyGguf(), 'notes.txt': Buffer.from('random weights')})
      await site.run('pooled', {'pooled.gguf': tinyGguf(1, {pooled: true})})
      await site.run('tuned', {
        'tuned/tiny.gguf': tinyGguf(),
        'tuned/adapters/one.gguf': tinyLora(7),
        'tuned/adapters/other.gguf': tinyLora(8),
      })
      for (const [name, run, path] of [
        ['chat', 'tiny', 'tiny.gguf'],
        ['embed', 'pooled', 'pooled.gguf'],
        ['tuned', 'tuned', 'tuned/'],
      ] as const)
        await site.models.register(await site.models.findRegistration({name, run, path}))
    }, 300_000)

    async function clientOf(name: string): Promise<OpenAI> {
      const apiKey = (await site.endpoints.token(name)).reveal()
      return new OpenAI({baseURL: `${site.tracking.mlflow.uri}/endpoints/${name}/v1`, apiKey, maxRetries: 0})
    }

    /** A reader that goes away in the middle of a generation: tried until llama.cpp says that it has stopped one for that. */
    async function expectCancelled(name: string, openai: OpenAI, model = name): Promise<void> {
      const long = {model, prompt: 'x', max_tokens: 200, temperature: 0, stream: true as const}
      await expect
        .poll(async () => {
          const reader = new AbortController()
          for await (const _ of await openai.completions.create(long, {signal: reader.signal})) reader.abort()
          const lines: string[] = []
          await site.endpoints.logs({name, follow: false, tail: 1000, onLine: ({text}) => void lines.push(text)})
          return lines.join('\n')
        })
        .toContain('cancel task')
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
      const completed = await client.completions.create({
        model: 'chat',
        prompt: '1, 2, ',
        max_tokens: 4,
        temperature: 0,
      })
      expect(completed.choices[0]).toMatchObject({finish_reason: 'length'})
    })

    test('a stream counts the tokens that llama.cpp says, whether or not its client asks, and that client sees none', async () => {
      const {key} = await site.endpoints.keys.add('chat', {client: 'team', seconds: 600})
      const team = new OpenAI({baseURL: client.baseURL, apiKey: key.reveal(), maxRetries: 0})
      const used = async (): Promise<number> => (await site.endpoints.keys.list('chat'))[0]!.tokens
      const whole = (await client.chat.completions.create(talk)).usage!.total_tokens
      const told: (number | undefined)[] = []
      for (const asks of [false, true]) {
        const options = asks ? {stream_options: {include_usage: true}} : {}
        for await (const {usage} of await team.chat.completions.create({...talk, ...options, stream: true}))
          if (usage) told.push(usage.total_tokens)
      }
      expect(told).toEqual([whole])
      await expect.poll(used).toBe(2 * whole)
    })

    test('an answer has the form that its schema says', async () => {
      const schema = {type: 'object', properties: {kind: {enum: ['one', 'other']}}, required: ['kind']}
      const response_format = {type: 'json_schema' as const, json_schema: {name: 'kind', schema}}
      const {choices} = await client.chat.completions.create({...talk, max_tokens: 100, response_format})
      expect(JSON.parse(choices[0]!.message.content!)).toEqual({kind: expect.stringMatching(/^(one|other)$/)})
    })

    test('requests at once that need more than one context between them are all answered', async () => {
      const long = {...talk, max_tokens: 150}
      const all = await Promise.all(Array.from({length: 8}, () => client.chat.completions.create(long)))
      expect(all.map(({usage}) => usage?.completion_tokens)).toEqual(Array(8).fill(150))
      expect(all[0]!.usage!.total_tokens).toBeGreaterThan(200) // of 256 that the model knows
    })

    test('a reader that goes away ends the generation, and the server answers others meanwhile', async () => {
      const [whole] = await Promise.all([client.chat.completions.create(talk), expectCancelled('chat', client)])
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

    test('a LoRA adapter is named as the model: each says other words, whole and streamed; an unknown one is refused', async () => {
      const {endpoint} = await site.endpoints.deploy({name: 'tuned'})
      expect(endpoint).toMatchObject({state: 'serving', protocol: 'openai'})
      const tuned = await clientOf('tuned')
      expect((await tuned.models.list()).data.map(({id}) => id)).toEqual(['tuned', 'one', 'other'])
      const asked = {prompt: 'Hello there', max_tokens: 16, temperature: 0}
      const complete = async (model: string): Promise<string | undefined> =>
        (await tuned.completions.create({...asked, model})).choices[0]?.text
      const [base, one, other] = [await complete('tuned'), await complete('one'), await complete('other')]
      expect(new Set([base, one, other]).size).toBe(3)
      expect(base).toBe((await client.completions.create({...asked, model: 'chat'})).choices[0]?.text)
      expect([await complete('tuned'), await complete('one')]).toEqual([base, one])
      const parts: string[] = []
      for await (const part of await tuned.completions.create({...asked, model: 'one', stream: true}))
        parts.push(part.choices[0]?.text ?? '')
      expect(parts.filter(Boolean).length).toBeGreaterThan(1)
      expect(parts.join('')).toBe(one)
      await expectCancelled('tuned', tuned, 'one')
      await expect(tuned.completions.create({...asked, model: 'nobody'})).rejects.toMatchObject({
        status: 404,
        code: 'model_not_found',
      })
      await expect(tuned.chat.completions.create({...talk, model: 'one', messages: 3 as never})).rejects.toMatchObject({
        status: 400,
      })
    })
  })
}
