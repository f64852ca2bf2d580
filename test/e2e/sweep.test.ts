import {afterAll, beforeAll} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import {startHead} from '../../src/lib/head/index.ts'
import {buildProgram} from '../support/program.ts'
import {startTrainRack, type TrainRack} from '../support/train.ts'
import {attendedTests} from './sweep/attended.ts'
import {detachedTests} from './sweep/detached.ts'

// One rack with one MLflow for both: to start them costs as much as several sweeps. The ones that cut the connection to
// the rack come last.
let setup: TrainRack

beforeAll(async () => {
  buildProgram()
  setup = await startTrainRack(2)
  await startHead(setup.rack.rack, setup.rack.fleet(), makeContext({env: setup.rack.env}))
}, 900_000)
afterAll(() => setup?.stop())

attendedTests(() => setup)
detachedTests(() => setup)
