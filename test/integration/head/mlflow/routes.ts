import {fileURLToPath} from 'node:url'
import {describe, expect, test} from 'vitest'
import {isTrackingApi, OPEN_CALLS} from '../../../../src/lib/head/service/tracking/open-calls.ts'
import {answerOf, startScript, type TestHead} from '../../../support/head.ts'

/** Known, and open to no program and no user; why: tracking/open-calls.ts. The rest of `workspaces` is people/door.ts's. */
const CLOSED = [
  /^\w+ \/api\/3\.0\/mlflow\/(?:gateway|mcp-servers|prompt-optimization|workspaces)(?:\/|$)/,
  /^\w+ \/api\/2\.0\/mlflow\/webhooks(?:\/|$)/,
  /^(?:GET|PUT) \/api\/3\.0\/mlflow\/scorers\/online-configs?$/,
  // for clients of a store of their own: there is none behind the head
  /^POST \/api\/2\.0\/mlflow\/artifacts\/presigned-(?:down|up)load-url$/,
  // which MLflow itself does not answer
  /^GET \/api\/2\.0\/mlflow\/(?:get-online-trace-details|unified-traces)$/,
  /^POST \/api\/2\.0mlflow\//,
]
const PAGES = /^\w+ \/(?:$|ajax-api\/|build\/|gateway\/|get-artifact|graphql|model-versions\/|static-files\/|v1\/)/

/** Of a head that several files use (mlflow.test.ts). */
export function routesTests(given: () => TestHead): void {
  describe('routes of MLflow', () => {
    test('each is known: open to programs and users, or closed on purpose; and what is open is there', async () => {
      const script = fileURLToPath(new URL('../../../fixtures/tracking/routes.py', import.meta.url))
      const routes = await answerOf<string[]>(startScript(given().python, script, [], {}))
      const isOpen = (route: string): boolean => {
        const [method, path] = route.replaceAll('*', 'x').split(' ') as [string, string]
        return isTrackingApi(method, path)
      }
      const isClosed = (route: string): boolean => [PAGES, ...CLOSED].some((one) => one.test(route))
      expect(routes.filter((route) => isOpen(route) === isClosed(route))).toEqual([])
      const calls = Object.entries(OPEN_CALLS).flatMap(([method, names]) => names.map((name) => `${method} ${name}`))
      const there = new Set(routes.map((route) => route.replace(/ \/api\/[23]\.0\/mlflow\//, ' ')))
      expect(calls.filter((call) => !there.has(call))).toEqual([])
      expect(calls.length).toBeGreaterThan(100)
    }, 60_000)
  })
}
