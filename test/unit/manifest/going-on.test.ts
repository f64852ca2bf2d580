import {describe, expect, it} from 'vitest'
import {manifestSchema} from '../../../src/lib/manifest/schema.ts'
import {readNodeRange} from '../../../src/lib/manifest/node-range.ts'

const train = (parts: object) => manifestSchema.safeParse({name: 'p', train: {command: 'train.py', ...parts}})

describe('how a run goes on', () => {
  it('has a range of nodes, the fewest first', () => {
    expect(readNodeRange('2..8')).toEqual({nodes: 8, minNodes: 2})
    expect(readNodeRange('4')).toEqual({nodes: 4})
    expect(readNodeRange('4..4')).toEqual({nodes: 4})
    for (const wrong of ['8..2', '0..2', '2..', '..2', '2-8', '0', '2..1025', ''])
      expect(readNodeRange(wrong)).toBeUndefined()
  })

  it('names checkpoints below the outputs, shortly or with a marker', () => {
    for (const checkpoint of ['checkpoints/', 'a/step-*.pt', {path: 'c/', marker: 'DONE', copies: 2}])
      expect(train({checkpoint}).success).toBe(true)
    for (const checkpoint of [
      '/abs/',
      '../up/',
      'a/../../b',
      '',
      {marker: 'DONE'},
      {path: 'c/', marker: 'a/b'},
      {path: 'c/', copies: -1},
      {path: 'c/', copies: 1.5},
    ])
      expect(train({checkpoint}).success).toBe(false)
  })
})
