import {expect, test} from 'vitest'
import {judgeReboot} from '../../../src/lib/project/check-reboot.ts'
import type {BootFound} from '../../../src/lib/protocol/index.ts'

const all: BootFound = {
  comes_back: {by: 'systemd', why: null},
  wanted: ['endpoint-digits-r1-0', 'head'],
  missing: [],
  runs: [],
}
const said = (found: Partial<BootFound>) =>
  judgeReboot('a', {...all, ...found}).map(
    ({severity, node, message, fix}) => `${severity} ${node}: ${message} | ${fix}`,
  )

test('nothing is said where all runs and comes back, or nothing is to', () => {
  expect(said({})).toEqual([])
  expect(said({comes_back: {by: 'off', why: null}})).toEqual([])
  expect(said({comes_back: {by: 'none', why: 'there is no cron'}, wanted: []})).toEqual([])
})

test('what will not come back is named, with the reason', () => {
  expect(said({comes_back: {by: 'none', why: 'there is no cron'}})).toEqual([
    'warning a: endpoint-digits-r1-0, the head will not come back after a reboot (there is no cron) | sudo loginctl enable-linger USER, or have cron run (on the node), then start it again',
  ])
})

test('what is to run and does not is named, with how it ended and its last line', () => {
  expect(
    said({
      missing: [
        {id: 'head', state: 'failed', exit: 'exit code 1', last: 'OSError: [Errno 28] No space left on device'},
        {id: 'endpoint-digits-r1-0', state: 'lost', exit: null, last: null},
      ],
    }),
  ).toEqual([
    'warning a: the head is to run there, and is failed (exit code 1: OSError: [Errno 28] No space left on device) | flexrack head start',
    'warning a: endpoint-digits-r1-0 is to run there, and is lost | flexrack endpoint show digits',
  ])
})

test('of a run that would not go on after a reboot it is said, and why', () => {
  expect(
    said({
      runs: [
        {run: 'digits-1', project: 'digits', goes_on: true, why: null},
        {run: 'digits-2', project: 'digits', goes_on: false, why: 'its restarts (2) are used up'},
      ],
    }),
  ).toEqual([
    'warning a: run digits-2 would not go on after a reboot (its restarts (2) are used up) | train.restarts, train.checkpoint and train.restart.after_reboot in flexrack.yaml, for the next run',
  ])
})
