import {expect, test} from 'vitest'
import {CliError} from '../../../src/lib/base/index.ts'
import {Tracked} from '../../../src/lib/lineage/tracked.ts'
import type {Mlflow} from '../../../src/lib/tracking/index.ts'

/** A workspace with these runs (by id) and versions (`digits/1`); `closed`: to who asks. */
function workspace(runs: string[], versions: Record<string, string> = {}, closed = false): Mlflow {
  const refuse = (what: string): Error => new CliError(closed ? 'REFUSED' : 'NOT_FOUND', `no ${what}`)
  const fake: Partial<Mlflow> = {
    getRun: async (id) => {
      if (closed || !runs.includes(id)) throw refuse(id)
      return {id, name: id, tags: {}} as never
    },
    getModel: async (name) => {
      if (closed || !Object.keys(versions).some((one) => one.startsWith(`${name}/`))) throw refuse(name)
      return {name, aliases: {}} as never
    },
    searchModels: () => Promise.resolve([]),
    listVersions: () => Promise.resolve([]),
    getVersion: async (name, version) => {
      const source = versions[`${name}/${version}`]
      if (closed || source === undefined) throw refuse(name)
      return {name, version, tags: {source}} as never
    },
  }
  return fake as Mlflow
}
const id = (digit: string): string => digit.repeat(32)

test('a run is looked for in its own project first, then in all that are open, and stays where it was found', async () => {
  const [own, closed, before] = [workspace([id('a')]), workspace([id('b')], {}, true), workspace([id('a'), id('b')])]
  let asked = 0
  const tracked = new Tracked(own, async () => (asked++, [closed, before]))
  expect((await tracked.run(id('a')))?.id).toBe(id('a'))
  expect([asked, tracked.homeOf(id('a'))]).toEqual([0, own])
  expect((await tracked.run(id('b')))?.id).toBe(id('b'))
  expect(tracked.homeOf(id('b'))).toBe(before)
  expect(await tracked.run(id('c'))).toBeUndefined()
  const broken = {getRun: () => Promise.reject(new CliError('NODE_UNREACHABLE', 'away'))} as unknown as Mlflow
  await expect(new Tracked(broken).run(id('a'))).rejects.toThrow('away')
})

test('of versions that two projects call the same it is the one that fits, else the own one', async () => {
  const [own, before] = [workspace([], {'digits/1': 'new'}), workspace([], {'digits/1': 'old', 'digits/2': 'old'})]
  const tracked = new Tracked(own, () => Promise.resolve([before]))
  const found = await tracked.version({name: 'digits', version: '1'}, ({tags}) => tags.source === 'old')
  expect([found?.tags.source, tracked.homeOf(found!)]).toEqual(['old', before])
  const none = await tracked.version({name: 'digits', version: '1'}, () => false)
  expect([none?.tags.source, tracked.homeOf(none!)]).toEqual(['new', own])
  expect((await tracked.version({name: 'digits', version: '2'}))?.tags.source).toBe('old')
  expect(await tracked.version({name: 'digits', version: '3'})).toBeUndefined()
})
