import {mkdir, mkdtemp, readdir, rm, stat} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {askDaemon, controlPath, serveControl} from '../../src/lib/local/control.ts'
import type {DaemonState} from '../../src/lib/local/types.ts'

let base: string
beforeEach(async () => (base = await mkdtemp(join(tmpdir(), 'flexrack-control-'))))
afterEach(() => rm(base, {recursive: true, force: true}))

const STATE = {pid: 1, id: 'rack'} as DaemonState

describe('the control socket of a local rack', () => {
  for (const [kind, depth] of [
    ['short', 0],
    ['long', 150],
  ] as const) {
    test(`is in the rack's own folder and for its owner only, where the path is ${kind}`, async () => {
      const folder = join(base, 'x'.repeat(depth))
      await mkdir(folder, {recursive: true, mode: 0o700})
      const before = new Set(await readdir(tmpdir()))
      const path = controlPath(folder)
      const server = await serveControl(path, () => Promise.resolve(STATE))
      expect((await stat(path)).isSocket()).toBe(true)
      expect((await stat(path)).mode & 0o777).toBe(0o600)
      expect((await readdir(tmpdir())).filter((name) => !before.has(name) && name.startsWith('flexrack-rack'))).toEqual(
        [],
      )
      expect(await askDaemon(path, {ask: 'state'})).toEqual(STATE)
      await new Promise((done) => server.close(done))
      expect(await askDaemon(path, {ask: 'state'})).toBeUndefined()
      expect(await readdir(folder)).toEqual([])
    })
  }

  test('of a rack that is gone answers nothing', async () => {
    expect(await askDaemon(controlPath(join(base, 'y'.repeat(150))), {ask: 'state'})).toBeUndefined()
  })
})
