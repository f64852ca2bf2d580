import {readFileSync} from 'node:fs'
import {mkdtemp, rm} from 'node:fs/promises'
import {createRequire} from 'node:module'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {PageRunDetail, PageTopology} from '../../../src/lib/head/types.ts'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {drivePage, type DrivenPage} from '../../support/page-driver.ts'
import {idleOf, rackOf, runsOf} from '../../support/page-facts.ts'
import {openHand, type Hand} from '../../support/ui-hand.ts'

let folder: string
let server: TestServer
let hand: Hand
let page: DrivenPage
let tick = 0
let runs = runsOf()
let nodes = 3
let log = 'step 0\n<script>document.title="taken over"</script>\nValueError: boom\n'
/** What axe-core finds that keeps somebody out (WCAG 2). */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const SERIOUS = `axe.run().then(({violations}) => violations
  .filter(({impact}) => impact === 'serious' || impact === 'critical')
  .map(({id, nodes}) => [id, ...nodes.map(({html}) => html)].join(' ')))`
const hostile = '<img src=x onerror=alert(1)>'

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-page-'))
  server = await openTestServer(undefined, {folder})
  const call = (method: string, path: string, body?: unknown): Promise<Response> => server.call(method, path, {body})
  hand = await openHand(
    {url: server.url, call},
    {
      rack: () => rackOf(nodes, {tick: tick++}),
      runs: () => ({runs, away: null, unasked: []}),
      run: ({run}) => detailOf(run),
      lines: ({at}) => {
        const from = 'from' in at ? at.from : 0
        return {
          rank: 0,
          attempt: 1,
          node: 'gpu01',
          from,
          to: log.length,
          size: log.length,
          text: log.slice(from),
          open: true,
          ranks: [0],
          attempts: [1],
        }
      },
      merged: () => ({
        rank: null,
        attempt: 1,
        node: 'gpu01, gpu02',
        from: 1,
        to: 2,
        size: 2,
        text: `[0-3] ${hostile}\n`,
        open: false,
        ranks: [0, 1],
        attempts: [1],
      }),
      idle: () => idleOf(),
      stacks: () => ({
        attempt: 1,
        groups: [{ranks: [0], frames: [{file: hostile, line: 1, function: hostile}]}],
        failed: [],
      }),
      topology: ({node}) => topologyOf(node),
      why: () => ({tree: {kind: 'run', name: hostile, facts: [[hostile, hostile]], from: []}, broken: null}),
      sweeps: () => [],
      notebooks: () => [],
      data: () => [],
      stop: () => ({status: 'stopped'}),
    },
  )
  await server.activate('digits', ['http://127.0.0.1:9'])
  page = await drivePage(hand.link)
  await page.until('document.querySelector("#node-gpu01")')
})
afterAll(async () => {
  await page?.close()
  await hand?.close()
  await server?.close()
  await rm(folder, {recursive: true, force: true})
})

function detailOf(run: string): PageRunDetail {
  const base = {...runsOf()[0]!, run, cause: hostile, tracked: null}
  const texts = {command: ['python', hostile], commit: null, environment: null, params: {[hostile]: hostile}}
  const attempt = {
    attempt: 1,
    status: 'running',
    started: Date.now() - 60_000,
    ended: null,
    why: hostile,
    cause: null,
    nodes: [hostile],
    steps: 3,
  }
  return {
    ...base,
    ...texts,
    data: [],
    code: [],
    lastMetrics: [],
    artifacts: [{path: hostile, size: 1}],
    attempts: [attempt],
    hangs: [{at: 1, attempt: 1, text: hostile, lines: [hostile], suspects: [{rank: 1, node: hostile, why: hostile}]}],
    ranks: [0, 1].map((rank) => ({rank, node: hostile, steps: rank, rate: null, wait: null, cpu: null, memory: null})),
    slowest: hostile,
    ranksStarted: null,
    figures: [],
    away: null,
  }
}
function topologyOf(node: string): PageTopology {
  const gpus = [0, 1].map((index) => ({index, name: hostile, memory: 1, numaNode: 0, nic: null}))
  const links = [
    [null, 'NV4'],
    ['SYS', null],
  ]
  return {
    node,
    source: null,
    numa: [{node: 0, cpus: '0', memory: 1}],
    gpus,
    nics: [],
    links,
    nicLinks: [],
    findings: [],
  }
}
const at = (path: string): string => `${server.url}/flexrack/ui/${path}`

test('news come into the page that is open, and what is at a node keeps its place', async () => {
  const load = (): Promise<string> =>
    page.evaluate('document.querySelector("#node-gpu01 [data-name=processors] small").textContent')
  const before = await load()
  await page.evaluate('document.querySelector("#node-gpu02 a").focus()')
  await expect.poll(load).not.toBe(before)
  // Nodes come and go in the page that is open.
  await page.evaluate('window.isSame = true')
  nodes = 4
  await page.until('document.querySelector("#node-gpu04")', 30)
  nodes = 3
  await page.until('!document.querySelector("#node-gpu04")', 30)
  expect(await page.evaluate('[window.isSame, document.activeElement.textContent]')).toEqual([true, 'gpu02'])
  expect(page.errors).toEqual([])
})

test('a run that is new stands above the others: what is marked, and where the focus is, stays with its run', async () => {
  await page.go(at('runs'))
  await page.until('document.querySelector("#pulse").textContent === "live"', 30)
  // Tab begins at the way past the pages.
  for (const type of ['rawKeyDown', 'keyUp'])
    await page.send('Input.dispatchKeyEvent', {type, key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9})
  expect(await page.evaluate('document.activeElement.className')).toBe('skip')
  const row = 'document.querySelector("#run-digits-9dkw2")'
  await page.evaluate(`${row}.querySelector("input").click(); ${row}.querySelector("a").focus()`)
  const [first, ...others] = runsOf()
  runs = [{...first!, run: 'digits-new01'}, {...first!, status: 'finished', ended: Date.now()}, ...others.slice(0, -1)]
  await page.until('document.querySelector("#runs").firstElementChild.id === "run-digits-new01"', 30)
  expect(
    await page.evaluate(`[${row}.querySelector("input").checked, document.activeElement.textContent,
    document.querySelectorAll("#runs input:checked").length, document.querySelectorAll("#runs tr").length,
    document.querySelector("#run-digits-ab12c .state").textContent]`),
  ).toEqual([true, 'digits-9dkw2', 1, 6, 'finished'])
  runs = runsOf()
  expect(page.errors).toEqual([])
})

test('every page is without errors, whatever runs and logs are called, and fits on a phone', async () => {
  for (const [width, theme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 800,
      deviceScaleFactor: 1,
      mobile: width < 500,
    })
    await page.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: theme}]})
    for (const path of [
      '',
      'runs',
      `runs/${encodeURIComponent('digits-ab12c')}?rank=0`,
      'runs/digits-ab12c?rank=all&search=img&only=1',
      'idle',
      'compare?run=digits-ab12c&run=digits-9dkw2',
      'sweeps',
      'endpoints',
      'models',
      'notebooks',
      'data',
      'people',
      'audit',
      'runs/digits-ab12c/stop',
      'runs/digits-ab12c/stacks',
      'nodes/gpu01',
      'why/run/digits-ab12c',
      'endpoints/digits',
    ]) {
      await page.go(at(path))
      expect([path, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([path, true])
      expect([path, await page.evaluate('document.querySelectorAll("main img, main script").length')]).toEqual([
        path,
        0,
      ])
      expect(await page.evaluate('document.querySelector("footer .command").textContent')).toMatch(/^flexrack /)
      await page.evaluate(`${axe};0`)
      expect([path, theme, await page.evaluate(SERIOUS)]).toEqual([path, theme, []])
    }
  }
  expect(page.errors).toEqual([])
  const names = await page.evaluate<string[]>(
    'performance.getEntriesByType("resource").map((one) => new URL(one.name).origin)',
  )
  expect(new Set(names)).toEqual(new Set([server.url]))
})

test('a log that is open grows, and stays text', async () => {
  await page.go(at('runs/digits-ab12c?rank=0'))
  await page.until('document.querySelector("#pulse").textContent === "live"')
  log += 'step 1 of the run\n'
  await page.until('document.querySelector("#log").textContent.includes("step 1 of the run")', 60)
  expect(await page.evaluate('document.querySelector("#log").textContent')).toBe(log)
  expect(await page.evaluate('document.title')).toContain('digits-ab12c')
  expect(page.errors).toEqual([])
})

test('without scripts it shows the same, and stops a run after a question', async () => {
  await page.send('Emulation.setScriptExecutionDisabled', {value: true})
  try {
    await page.go(at('runs/digits-ab12c/stop'))
    const {root} = await page.send<{root: {nodeId: number}}>('DOM.getDocument')
    const {nodeId} = await page.send<{nodeId: number}>('DOM.querySelector', {
      nodeId: root.nodeId,
      selector: 'button.danger',
    })
    await page.send('DOM.focus', {nodeId})
    for (const type of ['rawKeyDown', 'char', 'keyUp'])
      await page.send('Input.dispatchKeyEvent', {
        type,
        key: 'Enter',
        code: 'Enter',
        text: '\r',
        windowsVirtualKeyCode: 13,
      })
    await expect
      .poll(() => hand.asked.filter((one) => one.ask === 'stop'))
      .toMatchObject([{input: {run: 'digits-ab12c'}}])
    await page.go(at(''))
    expect(await page.evaluate('document.querySelectorAll("tr[id^=node-]").length')).toBe(3)
  } finally {
    await page.send('Emulation.setScriptExecutionDisabled', {value: false})
  }
})

test('ten tabs live from one stream', async () => {
  await page.go(at(''))
  const ids: string[] = []
  const holder = (): Promise<string | undefined> =>
    page.evaluate('navigator.locks.query().then(({held}) => held[0]?.clientId)')
  await expect.poll(holder).toBeDefined()
  const mine = await holder()
  for (let index = 0; index < 9; index++)
    ids.push((await page.send<{targetId: string}>('Target.createTarget', {url: at('')})).targetId)
  // Each has its news from the tab that holds the stream: an eleventh request is answered.
  await page.until('document.querySelector("#pulse").textContent === "live"')
  expect(await page.evaluate(`fetch(${JSON.stringify(at('audit'))}).then((one) => one.status)`)).toBe(200)
  // A tab that is not seen may be put to sleep: one that is has the stream.
  await expect.poll(async () => [undefined, mine].includes(await holder())).toBe(false)
  for (const targetId of ids) await page.send('Target.closeTarget', {targetId})
  await page.send('Page.bringToFront')
  await expect.poll(holder).toBe(mine)
  await page.until('document.querySelector("#pulse").textContent === "live"')
  expect(page.errors).toEqual([])
})

test('while its head is gone, and once its login has ended, the page says so; what is being typed stays', async () => {
  await page.go(at('runs/digits-ab12c?rank=0'))
  const pulse = 'document.querySelector("#pulse").textContent'
  await page.until(`${pulse} === "live"`, 30)
  await page.evaluate('document.querySelector("input[type=search]").focus()')
  await page.send('Input.insertText', {text: 'boo'})
  const port = Number(new URL(server.url).port)
  await server.close()
  await page.until(`/^not connected, as of \\d/.test(${pulse})`, 30)
  server = await openTestServer(undefined, {folder, port})
  await page.until(`${pulse} === "live"`, 60)
  expect(await page.evaluate('document.activeElement.value')).toBe('boo')
  expect(await page.evaluate('document.querySelector("#log").textContent')).toBe(log)
  await hand.close()
  await page.until(`/^not logged in any more .* as of /.test(${pulse})`, 60)
})
