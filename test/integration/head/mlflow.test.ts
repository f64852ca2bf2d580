import {afterAll, beforeAll} from 'vitest'
import {startTestHead, type TestHead} from '../../support/head.ts'
import {onnxTests} from './mlflow/onnx.ts'
import {peopleTests} from './mlflow/people.ts'
import {programsTests} from './mlflow/programs.ts'
import {providersTests} from './mlflow/providers.ts'
import {registryTests} from './mlflow/registry.ts'
import {routesTests} from './mlflow/routes.ts'
import {trackingTests} from './mlflow/tracking.ts'

// One MLflow for all: its start is most of what each of these files would cost. Those that look at all there is come
// first, and the one that has MLflow started again last.
let head: TestHead

beforeAll(async () => void (head = await startTestHead()), 900_000)
afterAll(() => head?.stop())

trackingTests(() => head)
registryTests(() => head)
routesTests(() => head)
onnxTests(() => head)
programsTests(() => head)
peopleTests(() => head)
providersTests(() => head)
