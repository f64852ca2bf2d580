import {expect, test} from 'vitest'
import {toleranceOf} from '../../../src/cli/lineage/tolerance.ts'
import {compare} from '../../../src/lib/lineage/compare.ts'
import {differencesOf, type Now} from '../../../src/lib/lineage/differ.ts'
import {choiceOf, sameTraining} from '../../../src/lib/lineage/reproduce.ts'
import type {Manifest} from '../../../src/lib/manifest/index.ts'
import type {Rack} from '../../../src/lib/rack/index.ts'
import {World} from '../../support/lineage.ts'

const world = new World()
const record = world.record(world.run('digits-abcde'))
const manifest = {
  name: 'digits',
  path: '/p/flexrack.yaml',
  workspace: {env: {}},
  train: {command: ['other.py'], launcher: 'torchrun', env: {}},
} as unknown as Manifest
const facts = {kernel: '6', machine: 'x86_64', cpu: null, driver: null}
const now: Now = {version: '0.1.0', nodes: [{node: 'gpu1', facts}], environment: 'e', missing: [], manifest, left: []}

const points = (...values: number[]) => values.map((value, step) => ({step, value}))
const side = (metrics: Record<string, {step: number; value: number}[]>, sha256 = 's', packages = 'torch==2.0\n') => ({
  metrics: new Map(Object.entries(metrics)),
  outputs: [{path: 'model.onnx', sha256, bytes: 1}],
  packages,
})

test('nothing differs where nothing does, and what does is named with both values', () => {
  expect(differencesOf(record, now)).toEqual([])
  const other = differencesOf(
    {...record, env: ['TOKEN'], inputs: [{name: 'x', from: 's3:x'}]},
    {
      ...now,
      version: '0.2.0',
      environment: 'f',
      nodes: [{node: 'gpu2', facts: {...facts, driver: '550'}}],
      left: [['big.bin', 'it has more than 8388608 bytes']],
    },
  )
  expect(other.map(({what}) => what)).toEqual([
    'big.bin',
    'environment',
    'nodes',
    'driver of gpu2 (was gpu1)',
    'flexrack',
    'variable TOKEN',
    'input x',
  ])
  expect(other[3]).toMatchObject({was: 'none', is: '550'})
})

test('equal to the last digit, within the tolerance, or different from a step on', () => {
  const was = side({loss: points(3, 2, 1)})
  expect(compare(was, side({loss: points(3, 2, 1)}), 0)).toMatchObject({verdict: 'equal', packages: []})
  const near = side({loss: points(3, 2.000001, 1)}, 'other', 'torch==2.1\n')
  expect(compare(was, near, 1e-6)).toMatchObject({
    verdict: 'within tolerance',
    metrics: [{first: {step: 1, was: 2, is: 2.000001}}],
    outputs: [{verdict: 'differs'}],
    packages: ['torch==2.0 -> torch==2.1'],
  })
  expect(compare(was, near, 1e-9).verdict).toBe('differs')
  expect(compare(was, side({loss: points(3, 2)}), 1).metrics[0]).toMatchObject({verdict: 'differs', largest: null})
  expect(compare(was, side({loss: points(3, 2, Number.NaN)}), 1).verdict).toBe('differs')
  expect(compare(side({x: points(0)}), side({x: points(-0)}), 0).verdict).toBe('equal')
  expect(compare(was, {...side({loss: points(3, 2, 1)}), outputs: []}, 1).verdict).toBe('differs')
  expect(compare(side({}), side({}, 'other'), 1).verdict).toBe('differs')
})

test('the same training, in a workspace of its own', () => {
  const same = sameTraining({...manifest, name: 'd'.repeat(40)}, record)
  expect(same.name).toMatch(/^d{25}-again-[a-z0-9]+$/)
  expect(same.name.length).toBeLessThanOrEqual(40)
  expect(same.train).toMatchObject({command: ['train.py', '--seed', '3'], launcher: 'plain'})
  expect(same.data).toEqual([`pets@${'d'.repeat(64)}`])
})

test('on the same nodes where the rack has them, else on as many', () => {
  const rack = (...names: string[]) => ({nodes: names.map((name) => ({name}))}) as unknown as Rack
  expect(choiceOf(record, rack('gpu1', 'gpu2'), undefined)).toMatchObject({on: 'gpu1', nodes: 1})
  expect(choiceOf(record, rack('gpu2'), undefined)).not.toHaveProperty('on')
  expect(choiceOf(record, rack('gpu1'), 'gpu2')).toMatchObject({on: 'gpu2'})
})

test('a tolerance is a number', () => {
  expect(toleranceOf('1e-6')).toBe(1e-6)
  for (const text of ['-1', 'x', '', '1e', 'Infinity']) expect(() => toleranceOf(text)).toThrow(/--tolerance/)
})
