import {expect, test} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import type {RackNode} from '../../../src/lib/rack/index.ts'
import {findAddresses} from '../../../src/lib/train/addresses.ts'

test.for([
  ['10.0.0.1', ['a 10.0.0.1', 'b 10.0.0.1']],
  [undefined, ['a undefined', 'b undefined', 'a 10.0.0.1', 'b 10.0.0.1']],
] as const)(
  'where the rack file has the address of the first node (%s), nobody is asked for it',
  async ([address, questions]) => {
    const requested: string[] = []
    const nodes = ['a', 'b'].map((name): RackNode => ({
      name,
      host: name,
      root: '~',
      labels: {},
      ...(name === 'a' && address && {address}),
    }))
    const hosts = nodes.map(
      ({name}, index) =>
        ({
          node: name,
          call: async (_verb: string, {to}: {to?: string}) => {
            requested.push(`${name} ${to}`)
            const own = `10.0.0.${index + 1}`
            return {machine: name, outgoing: own, interfaces: [{address: own, netmask: '255.255.255.0'}], source: own}
          },
        }) as unknown as Host,
    )
    expect(await findAddresses(nodes, hosts, makeContext())).toEqual({
      a: {address: '10.0.0.1', neighbours: 1},
      b: {address: '10.0.0.2', neighbours: 1},
    })
    expect(requested).toEqual(questions)
  },
)
