import {mkdtemp, open, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {CliError, count, type Context} from '../../lib/base/index.ts'
import type {Added} from '../../lib/data/index.ts'
import type {Endpoints} from '../../lib/endpoint/index.ts'
import {jsonText} from '../terminal/printable.ts'
import {fields} from '../terminal/render.ts'

/** Of a data set that a sample becomes. */
const FILE = 'requests.jsonl'

/** What `endpoint sample` wrote. */
export interface EndpointSample {
  endpoint: string
  exchanges: number
  /** More than could be brought at once. */
  dropped: number
  /** Where they are: a file of this machine, or a version of a data set. */
  file: string | null
  data: Added | null
}

export interface SampleWish {
  name: string
  requests: number
  seconds: number
  redact: string[]
  /** A file that does not exist yet, or the name of a data set. */
  to: {file: string} | {data: string}
}

/** Takes a sample and keeps it, a line of JSON an exchange, for its owner alone. Errors: CONFLICT (the file exists). */
export async function takeSample(
  endpoints: Endpoints,
  {to, ...input}: SampleWish,
  context: Context,
): Promise<EndpointSample> {
  const folder = 'data' in to ? await mkdtemp(join(tmpdir(), 'flexrack-sample-')) : undefined
  const path = folder === undefined ? resolve((to as {file: string}).file) : join(folder, FILE)
  try {
    const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
      throw new CliError('CONFLICT', `${path} exists already`, {hint: 'name a file that does not, or --data NAME'})
    })
    const counts = await endpoints
      .sample({
        ...input,
        onExchanges: async (exchanges) =>
          void (await file.write(exchanges.map((one) => `${jsonText(one)}\n`).join(''))),
      })
      .finally(() => file.close())
    const about = {endpoint: input.name, ...counts, file: folder === undefined ? path : null}
    if (!('data' in to)) return {...about, data: null}
    if (counts.exchanges === 0)
      throw new CliError('NOT_FOUND', `endpoint ${input.name} answered no request meanwhile, so there is no sample`, {
        hint: `--seconds ${input.seconds * 10}`,
      })
    const {DataStore} = await import('../../lib/data/index.ts')
    return {...about, data: await new DataStore(context).add(folder!, to.data)}
  } finally {
    if (folder !== undefined) await rm(folder, {recursive: true, force: true})
  }
}

export function sampleText({endpoint, exchanges, dropped, file, data}: EndpointSample): string {
  return fields([
    ['endpoint', endpoint],
    ['sample', `${count(exchanges, 'request')} with ${exchanges === 1 ? 'its answer' : 'their answers'}`],
    ['dropped', dropped > 0 ? `${dropped}, as they were too large for one answer of the head` : undefined],
    ['file', file ?? undefined],
    [
      'data set',
      data ? `${data.name}, version ${data.digest.slice(0, 12)}${data.same ? ' (as before)' : ''}` : undefined,
    ],
  ])
}
