import {describe, expect, it} from 'vitest'
import {readLook, verbScript} from '../../../src/lib/host/scripts.ts'
import {toCliError} from '../../../src/lib/host/node-error.ts'

describe('the scripts for a node', () => {
  it('run a verb with every path as one argument', () => {
    expect(
      verbScript(
        {
          python: '/usr/bin/python3',
          folder: '/home/a b/.flexrack/program/1/flexrack_node',
          root: "/it's",
          environments: '/e',
        },
        'node.facts',
      ),
    ).toBe("exec /usr/bin/python3 -I -S '/home/a b/.flexrack/program/1/flexrack_node' node.facts '/it'\\''s' /e")
  })

  it('are answered in five lines', () => {
    expect(readLook('present\n/r\n/e\n/usr/bin/python3\n\n')).toEqual({
      present: true,
      root: '/r',
      environments: '/e',
      python: '/usr/bin/python3',
      found: '',
    })
    expect(readLook('absent\n/r\n/e\n\nPython 3.7.3\n')).toMatchObject({
      present: false,
      python: '',
      found: 'Python 3.7.3',
    })
  })
})

describe('an error of the node program', () => {
  it('keeps its code, always names the node, and brings hint and details', () => {
    expect(
      toCliError('n1', {code: 'NODE_UNFIT', message: 'no room', hint: 'make room', details: {path: '/x'}}),
    ).toMatchObject({code: 'NODE_UNFIT', message: 'n1: no room', hint: 'make room', details: {node: 'n1', path: '/x'}})
    expect(toCliError('n1', {code: 'CONFLICT', message: 'n10 has it already'}).message).toBe('n1: n10 has it already')
  })

  it('with a code from another version, or none, is REMOTE_FAILED', () => {
    for (const value of [{code: 'toString', message: 'm'}, {message: 'm'}, null, 'text'])
      expect(toCliError('n1', value).code).toBe('REMOTE_FAILED')
  })
})
