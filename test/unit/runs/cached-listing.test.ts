import {expect, it} from 'vitest'
import {cachedListing} from '../../../src/lib/runs/cached-listing.ts'

it('takes the runs of a node from what the shell printed, among other lines', () => {
  expect(
    cachedListing.read(
      'load 1\nrun {"schema":4,"run":"a-1","status":"finished"}\nrun {"schema":4,"run":"b-2","status":"failed"}\n',
    ),
  ).toEqual([
    {run: 'a-1', status: 'finished'},
    {run: 'b-2', status: 'failed'},
  ])
  expect(cachedListing.read('load 1\n')).toEqual([])
})

it('leaves it to the node program where one run is not over', () => {
  expect(cachedListing.read('run {"schema":4,"run":"a-1"}\nrun ?\n')).toBeUndefined()
})

it('leaves it to the node program, too, where one was written by another version', () => {
  expect(cachedListing.read('run {"schema":4,"run":"a-1"}\nrun {"schema":5,"run":"b-2"}\n')).toBeUndefined()
  expect(cachedListing.read('run {"run":"a-1"}\n')).toBeUndefined()
})
