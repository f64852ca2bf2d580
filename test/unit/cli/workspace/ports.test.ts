import {expect, test} from 'vitest'
import {readPorts} from '../../../../src/cli/workspace/ports.ts'

test('a port stands for itself on both sides, two for here and there, none for those of the manifest', () => {
  expect(readPorts(['8888', '9000:80', '0:22'], [1])).toEqual([
    {localPort: 8888, remotePort: 8888},
    {localPort: 9000, remotePort: 80},
    {localPort: 0, remotePort: 22},
  ])
  expect(readPorts([], [6006])).toEqual([{localPort: 6006, remotePort: 6006}])
})

test.each([['x'], ['70000'], ['1:0'], ['1:2:3'], ['-1']])('refuses %s', (word) => {
  expect(() => readPorts([word], [])).toThrow(expect.objectContaining({code: 'USAGE'}))
})

test('wants at least one port, and none twice', () => {
  expect(() => readPorts([], [])).toThrow(expect.objectContaining({code: 'USAGE'}))
  expect(() => readPorts(['80:1', '80:2'], [])).toThrow(
    expect.objectContaining({hint: 'flexrack workspace forward 80:1 81:2'}),
  )
})
