import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, it} from 'vitest'
import {passQuickstart} from '../support/quickstart.ts'

let folder: string

beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'flexrack-quickstart-'))))
afterAll(() => rm(folder, {recursive: true, force: true}))

it.each(['the first time', 'again in the same folder'])(
  'npm run quickstart goes from an empty folder to a prediction, %s, and leaves nothing running',
  () => passQuickstart(folder),
  1_200_000,
)
