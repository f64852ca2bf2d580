import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import {carryOut, parseHosts, planAdd, planRemove} from '../../../src/lib/enroll/index.ts'
import {loadRack, type Rack, type RackNode} from '../../../src/lib/rack/index.ts'
import {throughJson} from '../../support/through-json.ts'

let home: string
let file: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-enroll-'))
  file = join(home, 'racks', 'lab.yaml')
})
afterEach(() => rm(home, {recursive: true, force: true}))

const env = {fleet: undefined, ctx: makeContext()}
/** Plans are read back before they are carried out. */
const addNodes = async (path: string, nodes: RackNode[]): Promise<Rack> =>
  (await carryOut(throughJson(await planAdd(path, nodes, {probe: false, trust: false})), env)) as Rack
const removeNodes = async (rack: Rack, names: string[], force: boolean): Promise<Rack | undefined> =>
  carryOut(throughJson(planRemove(rack, names, force)), env)

describe('words that name hosts', () => {
  it.each([
    ['gpu-1', {name: 'gpu-1', host: 'gpu-1'}],
    ['me@10.0.0.1:2222', {name: '10.0.0.1', host: '10.0.0.1', user: 'me', port: 2222}],
    ['big=gpu.example.org', {name: 'big', host: 'gpu.example.org'}],
    ['a=me@h:22', {name: 'a', host: 'h', user: 'me', port: 22}],
    ['[fd00::1]:2200', {name: 'fd00--1', host: 'fd00::1', port: 2200}],
    ['fd00::1', {name: 'fd00--1', host: 'fd00::1'}],
  ])('are read: %s', (word, expected) => {
    expect(parseHosts([word], {})).toEqual([{...expected, root: '~/.flexrack', labels: {}}])
  })

  it.each(['', '-oProxyCommand=x', 'a b', 'h:99999', 'h:x', '@h', 'x=', '[::1'])('are refused: %j', (word) => {
    expect(() => parseHosts([word], {})).toThrow(expect.objectContaining({code: 'USAGE'}))
  })

  it('take what the flags say for all of them, unless they say it themselves', () => {
    const nodes = parseHosts(['a', 'you@b:22'], {user: 'me', port: 2222, labels: ['gpu=a100', 'x=']})
    expect(nodes.map(({user, port, labels}) => [user, port, labels])).toEqual([
      ['me', 2222, {gpu: 'a100', x: ''}],
      ['you', 22, {gpu: 'a100', x: ''}],
    ])
  })

  it('may not name one node twice, nor give several nodes one address, nor a label without a key', () => {
    expect(() => parseHosts(['a', 'me@a'], {})).toThrow(expect.objectContaining({code: 'USAGE'}))
    expect(() => parseHosts(['a', 'b'], {address: '10.0.0.1'})).toThrow(expect.objectContaining({code: 'USAGE'}))
    expect(() => parseHosts(['a'], {labels: ['gpu']})).toThrow(expect.objectContaining({code: 'USAGE'}))
  })
})

describe('adding and removing', () => {
  it('makes the rack, then adds to it, then takes away', async () => {
    await addNodes(file, parseHosts(['a', 'b'], {}))
    expect((await addNodes(file, parseHosts(['c'], {}))).nodes.map((node) => node.name)).toEqual(['a', 'b', 'c'])
    await addNodes(file, parseHosts(['d'], {network: 'through-client'}))
    const rack = await loadRack(file, {})
    expect(rack.nodes.map((node) => node.network)).toEqual([undefined, undefined, undefined, 'through-client'])
    expect(rack.head.node).toBe('a')
    expect((await removeNodes(rack, ['b'], false))?.nodes.map((node) => node.name)).toEqual(['a', 'c', 'd'])
    expect((await loadRack(file, {})).nodes).toHaveLength(3)
  })

  it('plans the connections before the file, and changes nothing by planning', async () => {
    const plan = await planAdd(file, parseHosts(['a', 'b'], {}), {probe: true, trust: false})
    expect(plan.steps.map(({id, needs}) => [id, needs])).toEqual([
      ['connect:a', []],
      ['connect:b', []],
      ['write', ['connect:a', 'connect:b']],
    ])
    expect((await planAdd(file, parseHosts(['a'], {}), {probe: false, trust: false})).steps).toHaveLength(1)
    await expect(readFile(file)).rejects.toMatchObject({code: 'ENOENT'})
  })

  it('refuses a name that is taken', async () => {
    await addNodes(file, parseHosts(['a'], {}))
    await expect(planAdd(file, parseHosts(['a=other'], {}), {probe: true, trust: false})).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'the rack lab already has a',
    })
    await expect(addNodes(file, parseHosts(['a'], {}))).rejects.toMatchObject({code: 'CONFLICT'})
  })

  it('refuses to take away the node of the head, unless forced; then the head moves', async () => {
    await addNodes(file, parseHosts(['a', 'b'], {}))
    const rack = await loadRack(file, {})
    expect(() => planRemove(rack, ['a'], false)).toThrow(expect.objectContaining({code: 'CONFLICT'}))
    await expect(removeNodes(rack, ['a'], false)).rejects.toMatchObject({code: 'CONFLICT'})
    expect((await removeNodes(rack, ['a'], true))?.head.node).toBe('b')
    expect(() => planRemove(rack, ['z'], false)).toThrow(expect.objectContaining({code: 'NOT_FOUND'}))
  })

  it('removes the file with the last node, or when no node is named', async () => {
    await addNodes(file, parseHosts(['a'], {}))
    const rack = await loadRack(file, {})
    expect(await removeNodes(rack, ['a'], false)).toBeUndefined()
    await expect(loadRack(file, {})).rejects.toMatchObject({code: 'NOT_FOUND'})
    await addNodes(file, parseHosts(['a', 'b'], {}))
    expect(await removeNodes(await loadRack(file, {}), [], false)).toBeUndefined()
  })
})
