import {chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {discovered, readTargets} from '../../../src/lib/head/service/monitor.ts'
import {dashboardJson, DASHBOARDS} from '../../../src/lib/monitor/dashboards.ts'
import {requireOwnFolder} from '../../../src/lib/monitor/index.ts'

/** Of Grafana 9 and newer, without its import page: https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/. */
interface Board {
  uid: string
  title: string
  schemaVersion: number
  templating: {list: {name: string; type: string}[]}
  panels: {
    id: number
    type: string
    datasource: object
    gridPos: {x: number; y: number; w: number; h: number}
    fieldConfig: {defaults: {unit: string}}
    targets: {refId: string; expr: string; datasource: object}[]
  }[]
}

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-emit-'))
})
afterEach(() => rm(folder, {recursive: true, force: true}))

test('a folder that is new, empty or of an earlier call is taken', async () => {
  await requireOwnFolder(join(folder, 'new'))
  await requireOwnFolder(folder)
  await writeFile(join(folder, 'prometheus.yml'), 'of an earlier call')
  await mkdir(join(folder, 'rules'))
  await writeFile(join(folder, 'rules/flexrack.yml'), '')
  await requireOwnFolder(folder)
})

test("others' folders and files stay as they are", async () => {
  await chmod(folder, 0o755)
  await writeFile(join(folder, 'prometheus.yml'), 'of somebody')
  await expect(requireOwnFolder(folder)).rejects.toMatchObject({code: 'CONFLICT'})
  await expect(requireOwnFolder(join(folder, 'prometheus.yml'))).rejects.toMatchObject({code: 'CONFLICT'})
  expect((await stat(folder)).mode & 0o777).toBe(0o755)
  expect(await readFile(join(folder, 'prometheus.yml'), 'utf8')).toBe('of somebody')
})

test('a dashboard is one that Grafana provisions from a file: no inputs, known kinds, panels beside each other', () => {
  const boards = DASHBOARDS.map((one) => JSON.parse(JSON.stringify(dashboardJson(one))) as Board)
  expect(new Set(boards.map((one) => one.uid)).size).toBe(boards.length)
  for (const board of boards) {
    expect(Object.keys(board), 'what only the import page reads').not.toContain('__inputs')
    expect(Object.keys(board), 'the id of a database').not.toContain('id')
    expect(board.uid).toMatch(/^[\w-]{1,40}$/)
    const variables = new Set(board.templating.list.map((one) => one.name))
    expect(board.templating.list[0]).toMatchObject({name: 'datasource', type: 'datasource'})
    for (const [, name] of JSON.stringify(board).matchAll(/\$\{?([a-z]\w*)/g)) expect(variables).toContain(name)
    expect(new Set(board.panels.map((one) => one.id)).size).toBe(board.panels.length)
    const taken = new Set<string>()
    for (const {type, gridPos, fieldConfig, targets, datasource} of board.panels) {
      expect(['timeseries', 'table']).toContain(type)
      expect(['short', 'percentunit', 'bytes', 'Bps', 's', 'reqps']).toContain(fieldConfig.defaults.unit)
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
      expect(new Set(targets.map((one) => one.refId)).size).toBe(targets.length)
      for (const one of targets) expect(one.datasource).toEqual(datasource)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x} ${y}`), `${board.uid}: two panels at ${x} ${y}`).toBe(false)
          taken.add(`${x} ${y}`)
        }
    }
  }
})

test('targets that a head is told are of one shape, and those whose time is over are not discovered', () => {
  const stays = {targets: ['gpu1:9100'], labels: {node: 'gpu1'}}
  const goes = {targets: ['spot1:9100'], labels: {node: 'spot1'}, until: 1000}
  const told = readTargets([{...stays, more: 1}, goes])
  expect(discovered(told, 999)).toEqual([stays, {targets: goes.targets, labels: goes.labels}])
  expect(discovered(told, 1000)).toEqual([stays])
  for (const odd of [
    {},
    [null],
    [{targets: ['a']}],
    [{targets: [1], labels: {}}],
    [{targets: ['a'], labels: {'a-b': 'c'}}],
    [{targets: ['a'], labels: {a: 1}}],
    [{...stays, until: 'soon'}],
    Array.from({length: 5001}, () => stays),
  ])
    expect(() => readTargets(odd), JSON.stringify(odd).slice(0, 60)).toThrow(/groups of targets/)
})
