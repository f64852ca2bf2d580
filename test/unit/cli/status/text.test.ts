import {stripVTControlCharacters} from 'node:util'
import {expect, test} from 'vitest'
import {statusText} from '../../../../src/cli/status/text.ts'
import type {Overview} from '../../../../src/lib/overview/index.ts'

const overview = (state: Overview['head']['state']): Overview => ({
  rack: 'lab',
  nodes: [],
  head: {node: 'gpu1', state, url: null},
  runs: [],
  endpoints: [],
  shared: {devices: [], leases: [], nodes: []},
  reservations: [],
  unknown: [],
})
const endpoints = (state: Overview['head']['state']): string =>
  stripVTControlCharacters(statusText(overview(state))).split('endpoints\n')[1] ?? ''

test('that there is no endpoint is said by a head that runs; of a stopped one it is said that none answers', () => {
  expect(endpoints('running')).toContain('No endpoints yet')
  expect(endpoints('stopped')).toBe('  None answers while the head is stopped.')
})
