import {expect, test} from 'vitest'
import {CliError} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import type {RackNode} from '../../../src/lib/rack/index.ts'
import {openInLine} from '../../../src/lib/train/placer/gang-hosts.ts'

const line = ['a', 'b', 'c', 'd', 'e'].map((name): RackNode => ({name, host: name, root: '~', labels: {}}))
const opener = (dead: string, code: 'NODE_UNREACHABLE' | 'AUTH_FAILED' = 'NODE_UNREACHABLE') => {
  const requested: string[] = []
  return {
    requested,
    open: async ({name}: RackNode): Promise<Host> => {
      requested.push(name)
      if (dead.includes(name)) throw new CliError(code, `no answer of ${name}`)
      return {node: name} as Host
    },
  }
}
const names = (hosts: Map<RackNode, Host>): string[] => [...hosts.values()].map((host) => host.node)

test('only as many nodes are asked as are needed; dead ones are replaced by the next, in the order of the rack', async () => {
  const well = opener('')
  expect(names((await openInLine(line, 3, well.open)).hosts)).toEqual(['a', 'b', 'c'])
  expect(well.requested).toEqual(['a', 'b', 'c'])
  const {hosts, dead} = await openInLine(line, 3, opener('ad').open)
  expect([names(hosts), [...dead.keys()].map((node) => node.name)]).toEqual([
    ['b', 'c', 'e'],
    ['a', 'd'],
  ])
})

test('where too few answer, or the reason is not that a node is dead, its error is the error', async () => {
  await expect(openInLine(line, 3, opener('bcd').open)).rejects.toMatchObject({
    code: 'NODE_UNREACHABLE',
    message: 'no answer of b',
  })
  await expect(openInLine(line.slice(0, 2), 2, opener('a').open)).rejects.toMatchObject({message: 'no answer of a'})
  await expect(openInLine(line, 2, opener('b', 'AUTH_FAILED').open)).rejects.toMatchObject({code: 'AUTH_FAILED'})
})
