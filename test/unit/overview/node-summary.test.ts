import {expect, it} from 'vitest'
import {summaryScript, parseSummary} from '../../../src/lib/overview/node-summary.ts'

it('reads what a node printed, sizes in bytes', () => {
  expect(
    parseSummary(
      'load 0.52\nticks 50 1 9 900 30 4 6 0 7 0\nMemTotal: 2048\nMemAvailable: 1024\nonline 0-3,8\ngpus 2\nreserved 1\nrun ?\ndisk 1024-blocks Available\ndisk 4096 1000\n',
    ),
  ).toEqual({
    load: 0.52,
    // Waiting for a disk is idle; guests are in user's time.
    ticks: {busy: 70, all: 1000},
    cores: 5,
    memory: {available: 1024 * 1024, total: 2048 * 1024},
    disk: {free: 1000 * 1024, total: 4096 * 1024},
    gpus: 2,
    runs: undefined,
    shares: false,
    reserved: true,
  })
})

it('leaves null what is missing or odd', () => {
  expect(parseSummary('online ?\nMemTotal: 2048\n')).toEqual({
    load: null,
    ticks: null,
    cores: null,
    memory: null,
    disk: null,
    gpus: 0,
    runs: [],
    shares: false,
    reserved: false,
  })
})

it('looks for runs below the root, quoted', () => {
  expect(summaryScript({root: '~/.flexrack'})).toContain(`in "$HOME"/.flexrack/runs/*`)
  expect(summaryScript({root: "/data/it's"})).toContain(`in '/data/it'\\''s'/runs/*`)
})
