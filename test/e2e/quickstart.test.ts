import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, it} from 'vitest'
import {passQuickstart} from '../support/quickstart.ts'

let folder: string

beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'flexrack-quickstart-'))))
afterAll(() => rm(folder, {recursive: true, force: true}))

// Again in the same folder: quickstart.long.test.ts.
it(
  'npm run quickstart goes from an empty folder to a prediction, and leaves nothing running',
  () => passQuickstart(folder),
  1_200_000,
)
