import {expect, test} from 'vitest'
import {deployNamed} from '../../../../src/cli/endpoint/deploy.ts'
import {rollbackNamed} from '../../../../src/cli/endpoint/rollback.ts'
import {namesRacks, openNamedSet, setAnswers} from '../../../../src/cli/endpoint/sets.ts'
import {changesText} from '../../../../src/cli/endpoint/text.ts'
import {makeContext} from '../../../../src/lib/base/index.ts'
import type {SetChange} from '../../../../src/lib/endpoint/index.ts'

const context = makeContext({env: {}})

test('NAME@RACK says whose endpoint is meant; what is none is refused before anybody is asked', async () => {
  expect([namesRacks(['digits']), namesRacks(['digits', 'digits@edge'])]).toEqual([false, true])
  for (const words of [['@edge'], ['digits@'], ['digits@lab@edge']])
    await expect(openNamedSet(words, {}, context)).rejects.toMatchObject({code: 'USAGE'})
  await expect(rollbackNamed(['digits', 'digits'], {}, context)).rejects.toMatchObject({code: 'USAGE'})
})

test('one model is of one name, at several racks; a canary is of one endpoint', async () => {
  const given = {force: false}
  await expect(deployNamed(['a@lab', 'b@edge'], {...given, model: 'm/3'}, {}, context)).rejects.toThrow('--model')
  const canary = {steps: [10]}
  await expect(deployNamed(['a@lab', 'a@edge'], {...given, canary}, {}, context)).rejects.toThrow('--canary')
})

test('of each endpoint it is told at which rack it serves', () => {
  const endpoint = {name: 'digits', model: 'digits/3', release: 'r2', replicas: 1, protocol: 'v2', callUrl: 'u'}
  const changes = ['lab', 'edge'].map((rack) => ({rack, changed: true, endpoint}) as unknown as SetChange)
  expect(changesText(setAnswers('rollback', changes)).split('\n')).toEqual([
    expect.stringMatching(/^Endpoint digits@lab is back to digits\/3/),
    expect.stringMatching(/^Endpoint digits@edge is back to digits\/3/),
  ])
})
