import {expect, it} from 'vitest'
import {completeHint} from '../../../../src/cli/errors/hint.ts'

it.each([
  ['adds the flag to what was typed', '--yes', ['rack', 'remove', 'lab'], 'flexrack rack remove lab --yes'],
  [
    'puts it in place of the same flag',
    '--on node-1',
    ['check', '--on', 'node-9', '--json'],
    'flexrack check --json --on node-1',
  ],
  [
    'knows it with an equals sign, and short',
    '--rack lab',
    ['status', '--rack=lob', '-r', 'x'],
    'flexrack status --rack lab',
  ],
  [
    'keeps what follows -- at the end, quoted for a shell',
    '--on node-1',
    ['workspace', 'exec', '--', 'echo', "it's", '--on'],
    `flexrack workspace exec --on node-1 -- echo 'it'\\''s' --on`,
  ],
  [
    '(a command) means the same rack and project',
    'flexrack head start\nflexrack rack list',
    ['train', '-r', 'lab', '--project=a b'],
    "flexrack head start --rack lab --project 'a b'\nflexrack rack list",
  ],
  [
    '(of a sweep) too',
    'flexrack sweep --resume latest',
    ['sweep', '-r', 'lab'],
    'flexrack sweep --resume latest --rack lab',
  ],
  ['leaves commands and advice alone', 'flexrack rack list', ['status'], 'flexrack rack list'],
])('a hint that is a flag %s', (_, hint, argv, line) => {
  expect(completeHint(hint, argv)).toBe(line)
})

it('a mistyped flag is corrected where it stands, with its value', () => {
  expect(completeHint('--nodes', ['local', 'up', '--ndoes', '3'], '--ndoes')).toBe('flexrack local up --nodes 3')
  expect(completeHint('--nodes', ['local', 'up', '--ndoes=3'], '--ndoes')).toBe('flexrack local up --nodes=3')
})
