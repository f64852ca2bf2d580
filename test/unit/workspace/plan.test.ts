import {EventEmitter, once} from 'node:events'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {makeContext, type Context} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import type {Manifest} from '../../../src/lib/manifest/index.ts'
import {planWorkspace} from '../../../src/lib/workspace/index.ts'

let folder: string
let context: Context
let manifest: Manifest

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flexrack-plan-'))
  writeFileSync(join(folder, 'train.py'), '')
  context = makeContext({env: {FLEXRACK_HOME: join(folder, '.flexrack')}})
  manifest = {
    path: join(folder, 'flexrack.yaml'),
    folder,
    name: 'proj',
    workspace: {exclude: [], forward: [], env: {}},
    tracking: {experiment: 'proj'},
    endpoints: {},
  }
})

afterEach(() => rmSync(folder, {recursive: true}))

const requested = new EventEmitter<{look: [string]}>()
const host = (node: string): Host =>
  ({
    node,
    call: async () => {
      requested.emit('look', node)
      if (node === 'broken') throw new Error('it does not work')
      return {sync: {same: true, revision: 'r', path: `/${node}`, last: null}}
    },
  }) as unknown as Host

test('nodes that are there are looked at while others are still waited for, and once', async () => {
  const looks: string[] = []
  requested.on('look', (node) => looks.push(node))
  const early = new EventEmitter<{open: [Host]}>()
  const [a, b, broken] = ['a', 'b', 'broken'].map(host) as [Host, Host, Host]
  let come: (hosts: Host[]) => void = () => {}
  const planned = planWorkspace(new Promise((resolve) => (come = resolve)), manifest, context, {early})
  const looked = once(requested, 'look')
  early.emit('open', b)
  early.emit('open', broken)
  expect(await looked).toEqual(['b'])
  come([a, b, broken])
  const {workspaces, failed} = await planned
  expect([[...workspaces.keys()], [...failed.keys()]]).toEqual([['a', 'b'], ['broken']])
  expect(looks.toSorted()).toEqual(['a', 'b', 'broken'])
})

test('a node that is not to be had is the error, also where the project has one of its own', async () => {
  await expect(planWorkspace(Promise.reject(new Error('no answer')), manifest, context)).rejects.toThrow('no answer')
  manifest.workspace.python = 'absent.txt'
  await expect(planWorkspace(Promise.reject(new Error('no answer')), manifest, context)).rejects.toThrow()
})
