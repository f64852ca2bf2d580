import {expect, test} from 'vitest'
import {editorAddress, editorWords} from '../../../src/lib/ssh-host/address.ts'
import {nameHosts} from '../../../src/lib/ssh-host/names.ts'
import type {HostPlace} from '../../../src/lib/ssh-host/types.ts'

const place = (project: string, node: string, first = true, rack = 'lab'): HostPlace => ({
  rack,
  rackFile: '/lab.yaml',
  project,
  folder: null,
  node,
  first,
  user: 'me',
})
const names = (places: HostPlace[], known: (HostPlace & {alias: string})[] = []): string[] =>
  [...nameHosts(places, known).values()].flat()

test('the short name is the first node; each has its own where there are several', () => {
  expect(names([place('digits', 'node-1')])).toEqual(['ws-digits'])
  expect(names([place('My.Digits', 'gpu_a'), place('My.Digits', 'b', false)])).toEqual([
    'ws-my-digits',
    'ws-my-digits-gpu-a',
    'ws-my-digits-b',
  ])
})

test('a name that another place has is left to it, and its own is kept', () => {
  const other = {...place('a-b', 'n', true, 'home'), alias: 'ws-a-b'}
  const [name] = names([place('a.b', 'n')], [other])
  expect(name).toMatch(/^ws-a-b-[0-9a-f]{6}$/)
  expect(names([place('a.b', 'n')], [other, {...place('a.b', 'n'), alias: name!}])).toEqual([name])
  expect(names([place('a-b', 'n', true, 'home')], [other])).toEqual(['ws-a-b'])
})

test('names that only look the same stay apart', () => {
  const all = names([place('a', 'x_y'), place('a', 'x-y', false)])
  expect(new Set(all).size).toBe(3)
})

test('what opens a folder, by words and as an address', () => {
  expect(editorWords('code', 'ws-a', '/home/me/a b')).toEqual([
    'code',
    '--folder-uri',
    'vscode-remote://ssh-remote+ws-a/home/me/a%20b',
  ])
  expect(editorWords('zed', 'ws-a', '/c')).toEqual(['zed', 'zed://ssh/ws-a/c'])
  expect(editorAddress('code', 'ws-a', '/c')).toBe('vscode://vscode-remote/ssh-remote+ws-a/c')
  expect(editorAddress('cursor', 'ws-a', '/c')).toBe('cursor://vscode-remote/ssh-remote+ws-a/c')
})
