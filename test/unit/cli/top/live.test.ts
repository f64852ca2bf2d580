import {stripVTControlCharacters} from 'node:util'
import {expect, test} from 'vitest'
import {watchScene, type Scene} from '../../../../src/cli/top/live.ts'
import {startState, type Key} from '../../../../src/cli/top/state.ts'
import type {FullTerminal} from '../../../../src/cli/top/terminal.ts'
import {makeContext} from '../../../../src/lib/base/index.ts'

test('a look that fails is told and the last one stays; the next one that does not takes the word back', async () => {
  let looks = 0
  let isGone = false
  const scene: Scene<number> = {
    look: () => (looks++, isGone ? Promise.reject(new Error('the head does not\nanswer')) : Promise.resolve(looks)),
    view: (now, _before, state) => ({title: `look ${now}`, facts: [], notes: [], panes: [], state, at: Date.now()}),
  }
  let screen: string[] = []
  let press: (key: Key) => void = () => {}
  const terminal = {
    isAside: false,
    size: {width: 80, height: 6},
    open: () => {},
    close: () => {},
    draw: (lines: readonly string[]) => void (screen = lines.map((line) => stripVTControlCharacters(line))),
  } as unknown as FullTerminal
  const over = watchScene(scene, startState({}, 0.02), makeContext(), (onKey) => ((press = onKey), terminal))
  await expect.poll(() => looks).toBeGreaterThan(2)
  isGone = true
  await expect.poll(() => screen.at(-1)).toMatch(/^the head does not answer {3}\? help/)
  const seen = screen[0]!.slice(0, 8)
  expect(seen).toMatch(/^look \d/)
  isGone = false
  await expect.poll(() => screen.at(-1)).toMatch(/^\? help/)
  expect(screen[0]!.slice(0, 8)).not.toBe(seen)
  press({name: 'q', text: 'q', ctrl: false})
  await over
})

test('the first look that fails ends it', async () => {
  const scene = {look: () => Promise.reject(new Error('no rack')), view: () => ({}) as never}
  await expect(watchScene(scene, startState({}, 1), makeContext(), () => ({}) as FullTerminal)).rejects.toThrow(
    'no rack',
  )
})
