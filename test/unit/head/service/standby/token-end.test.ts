import {expect, test} from 'vitest'
import {openTestServer} from '../../../../support/head-server.ts'

test('who ends a token of an endpoint is answered once the standby that is there has heard of it', async () => {
  const server = await openTestServer()
  try {
    const {tokens, followers} = server.parts
    tokens.whenChanged(() => followers.changed())
    const standby = await tokens.issue({kind: 'standby', node: 'b', names: ['b']})
    const [endpoint, run] = [
      await tokens.issue({kind: 'endpoint', endpoint: 'digits', ttl_seconds: 60}),
      await tokens.issue({kind: 'run', run_id: 'r', experiment_id: '1', ttl_seconds: 60}),
    ]
    const word = {url: 'https://b:1', inFlight: {}, answered: {}}
    followers.heard(standby.id, {...word, after: followers.version})
    const end = (id: string): Promise<unknown> =>
      server.call('DELETE', `/flexrack/v1/tokens/${id}`).then((answer) => answer.json())
    let isAnswered = false
    const ended = end(endpoint.id).finally(() => (isAnswered = true))
    while (tokens.has(endpoint.id)) await new Promise((done) => setImmediate(done))
    await new Promise((done) => setTimeout(done, 100))
    expect(isAnswered).toBe(false)
    followers.heard(standby.id, {...word, after: followers.version})
    expect(await ended).toEqual({followed: true})
    expect(await end(run.id), 'no standby knows it').toEqual({})
  } finally {
    await server.close()
  }
})
