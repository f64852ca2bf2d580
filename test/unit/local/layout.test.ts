import {expect, test} from 'vitest'
import {localLayout} from '../../../src/lib/local/layout.ts'

test('the parts of the local rack are below FLEXRACK_HOME, absolute even where that is not', () => {
  const layout = localLayout({FLEXRACK_HOME: '/somewhere'})
  expect(layout.node('node-2')).toEqual({
    folder: '/somewhere/state/local/nodes/node-2',
    home: '/somewhere/state/local/nodes/node-2/home',
    hostKey: '/somewhere/state/local/nodes/node-2/host_key',
  })
  expect(layout.rackFile).toBe('/somewhere/config/racks/local.yaml')
  expect(localLayout({FLEXRACK_HOME: 'here'}).folder).toBe(`${process.cwd()}/here/state/local`)
})
