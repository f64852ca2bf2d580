import {expect, it} from 'vitest'
import {parseGlance} from '../../../src/lib/overview/glance.ts'

it('reads what a node printed, sizes in bytes', () => {
  expect(parseGlance('load 0.52\nMemTotal: 2048\nMemAvailable: 1024\ncores 8\ndisk 4096 1000\ngpus 2\n')).toEqual({
    load: 0.52,
    cores: 8,
    memory: {available: 1024 * 1024, total: 2048 * 1024},
    disk: {free: 1000 * 1024, total: 4096 * 1024},
    gpus: 2,
  })
})

it('leaves null what is missing or odd', () => {
  expect(parseGlance('cores undefined\nMemTotal: 2048\n')).toEqual({load: null, cores: null, memory: null, disk: null, gpus: 0})
})
