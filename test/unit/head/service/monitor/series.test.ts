import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, test} from 'vitest'
import {METRICS_PATH} from '../../../../../src/lib/head/service/monitor.ts'
import type {HeadClaim, HeadClaims} from '../../../../../src/lib/protocol/index.ts'
import {openTestServer, type TestServer} from '../../../../support/head-server.ts'

const RUNS = 1000

/** A run whose token has ended: it is over, and the head has not noticed yet. */
const over = (number: number): [string, HeadClaim] => [
  `digits-${number}`,
  {
    user: `user${number % 50}`,
    teams: ['vision'],
    project: `project${number % 20}`,
    parts: [{node: `n${number % 8}`, gpus: [`GPU-${number}`], exclusive: false}],
    gpus: 1,
    priority: 0,
    limit: null,
    state: 'held',
    since: 1e12,
    heldAt: Date.now() - 3_600_000,
    seenAt: Date.now(),
    token: `gone${number}`,
  },
]

/** Names and labels, without values. */
async function seriesOf(server: TestServer): Promise<string[]> {
  const text = await (await server.call('GET', METRICS_PATH)).text()
  return text.split('\n').flatMap((line) => (line === '' || line.startsWith('#') ? [] : [line.replace(/ \S+$/, '')]))
}

test('of a thousand finished runs no series is left at the head', {timeout: 30_000}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-series-'))
  try {
    const fresh = await openTestServer(undefined, {folder})
    const before = await seriesOf(fresh)
    await fresh.close()
    expect(before.length).toBeGreaterThan(0)
    const kept = {claims: Object.fromEntries(Array.from({length: RUNS}, (_, at) => over(at))), used: {}}
    const file = join(folder, 'claims.json')
    await writeFile(file, JSON.stringify({schema: 1, ...kept, month: '', hours: {}}))
    const server = await openTestServer(undefined, {folder})
    try {
      await server.parts.claims.sweep()
      const after = JSON.parse(await readFile(file, 'utf8')) as HeadClaims
      expect(Object.keys(after.claims)).toEqual([])
      expect(
        Object.values(after.used).reduce((sum, {hours}) => sum + hours, 0),
        'they all counted',
      ).toBeCloseTo(RUNS, -1)
      const requests = await seriesOf(server)
      expect(requests).toEqual(before)
    } finally {
      await server.close()
    }
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
})
