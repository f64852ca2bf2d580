import {expect, it} from 'vitest'
import {makeContext, silentReporter} from '../../../src/lib/base/index.ts'
import {ensureEnvironment, type Host} from '../../../src/lib/host/index.ts'
import type {EnvironmentWanted, Verbs} from '../../../src/lib/protocol/index.ts'

type Said = Verbs['environment.ensure']['event']

/** What is shown while a node builds that tells `events`; they get what this command said of itself. */
async function shown(events: (request: EnvironmentWanted) => Said[]): Promise<[string, unknown][]> {
  const details: [string, unknown][] = []
  const reporter = {
    ...silentReporter,
    begin: () => ({
      ...silentReporter.begin(''),
      detail: (text: string, how?: object) => void details.push([text, how]),
    }),
  }
  const call: Host['call'] = async (_verb, input, options) => {
    for (const event of events(input as EnvironmentWanted)) options?.onEvent?.(event as never)
    return {hash: 'abc', path: '/e/abc', built: false} as never
  }
  await ensureEnvironment({node: 'node-2', call} as Host, {requirements: ''}, makeContext({reporter}))
  return details
}

it("waits for another's build with the name of who builds, which need not be told again and again", async () => {
  expect(
    await shown(() => [
      {
        event: 'waiting',
        purpose: 'build',
        holder: {owner: 'eve@desk', asker: {command: 'other', node: 'node-1'}},
        text: 'waiting for eve@desk on gpu1 (pid 7, since 70 s)',
      },
    ]),
  ).toEqual([['waiting for eve@desk on gpu1 (pid 7, since 70 s)', {seldom: true}]])
})

it('waits for the own build of another node by the name of that node', async () => {
  const own = await shown(({asker}) => [
    {
      event: 'waiting',
      purpose: 'build',
      holder: {owner: 'ada@desk', asker: asker && {...asker, node: 'node-1'}},
      text: 'waiting for ada@desk on gpu1 (pid 7, since 70 s)',
    },
  ])
  expect(own).toEqual([['waiting for node-1, which builds it for this command', {seldom: true}]])
})

it('shows what pip says as it comes', async () => {
  expect(await shown(() => [{event: 'progress', detail: 'Collecting torch'}])).toEqual([
    ['Collecting torch', undefined],
  ])
})
