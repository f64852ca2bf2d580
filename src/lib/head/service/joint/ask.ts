import type {HeadPromise} from '../../../protocol/index.ts'
import {logLine} from '../log.ts'
import {FirstHead} from '../standby/first-head.ts'

const STATES = ['promised', 'committed', 'dropped'] as const

/** The head that decides, by the token that was given for this one question. Undefined where it gave no answer. */
export async function askLeader(
  {url, ca, token}: NonNullable<HeadPromise['leader']>,
  id: string,
): Promise<HeadPromise['state'] | undefined> {
  const head = new FirstHead({url}, ca ?? undefined)
  try {
    const {state} = (await head.ask(`/flexrack/v1/joint/${id}/verdict`, token, {})) as {state?: unknown}
    return STATES.find((one) => one === state)
  } catch (error) {
    logLine(`what was decided of switch ${id} is not told by ${url}: ${(error as Error).message}`)
    return undefined
  } finally {
    head.close()
  }
}
