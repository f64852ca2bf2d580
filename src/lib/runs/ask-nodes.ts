import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import {hostOf, type Place} from './find.ts'
import type {FoundRun} from './types.ts'

/** Asks every node of a run at the same time. `failed`: those that could not be asked, or refused. */
export async function askNodes<T>(
  place: Place,
  run: FoundRun,
  ask: (host: Host) => Promise<T>,
  context: Context,
): Promise<{values: T[]; failed: {node: string; error: unknown}[]}> {
  const answers = await Promise.allSettled(run.nodes.map(async ({node}) => ask(await hostOf(place, node, context))))
  return {
    values: answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : [])),
    failed: answers.flatMap((answer, index) =>
      answer.status === 'rejected' ? [{node: run.nodes[index]?.node ?? '', error: answer.reason as unknown}] : [],
    ),
  }
}
