import {afterAll, beforeAll} from 'vitest'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {closedTests} from './runtimes/closed.ts'
import {customTests} from './runtimes/custom.ts'
import {llamacppTests} from './runtimes/llamacpp.ts'
import {scalingTests} from './runtimes/scaling.ts'

// One rack with one head for all: to start them costs as much as what most of these files do with them. First come those
// that look at all servers there are: of `scaling` none is left.
let site: EndpointRack

beforeAll(async () => void (site = await startEndpointRack({nodes: 2})), 900_000)
afterAll(() => site?.stop())

scalingTests(() => site)
customTests(() => site)
closedTests(() => site)
llamacppTests(() => site)
