import {expect, it} from 'vitest'
import {runGlance} from '../../../src/lib/runs/glance.ts'

it('takes the runs of a node from what the shell printed, among other lines', () => {
  expect(runGlance.read('load 1\nrun {"run":"a-1","status":"finished"}\nrun {"run":"b-2","status":"failed"}\n')).toEqual([{run: 'a-1', status: 'finished'}, {run: 'b-2', status: 'failed'}])
  expect(runGlance.read('load 1\n')).toEqual([])
})

it('leaves it to the node program where one run is not over', () => {
  expect(runGlance.read('run {"run":"a-1"}\nrun ?\n')).toBeUndefined()
})
