import {expect, it} from 'vitest'
import {makeContext, silentReporter} from '../../../../src/lib/base/index.ts'
import {newsTeller} from '../../../../src/cli/runs/follow.ts'

it('another leader is told once, by itself, with who chose it; and an old one that has to end, by that one', () => {
  const reported: string[] = []
  const tell = newsTeller(
    makeContext({
      reporter: {
        ...silentReporter,
        warn: (message) => void reported.push(message),
        note: (message) => void reported.push(message),
      },
    }),
  )
  const at = 1
  for (const node of ['node-2', 'node-3'])
    tell({node, at, event: 'leader lost', leader: 'node-1', why: 'the leader on node-1 is gone'})
  tell({node: 'node-2', at, event: 'elected', term: 2, votes: ['node-2', 'node-3'], instead: 'node-1'})
  tell({node: 'node-2', at, event: 'of a newer release' as 'elected', votes: []})
  tell({node: 'node-2', at, event: 'toString' as 'elected'})
  for (const node of ['node-3', 'node-4']) tell({node, at, event: 'follows', leader: 'node-2', term: 2})
  tell({node: 'node-1', at, event: 'stepped down', why: 'node-2 leads the run by now'})
  expect(reported).toEqual([
    'node-2 leads the run from now on, chosen by node-2 and node-3, in the place of node-1',
    'node-2 leads the run by now',
  ])
})
