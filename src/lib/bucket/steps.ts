import {setTimeout as pause} from 'node:timers/promises'
import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Handlers, StepOf} from '../plan/index.ts'
import type {InputBrought, RunInput, RunUpload} from '../protocol/index.ts'
import {isLinkTrouble} from '../ssh/index.ts'
import {needRclone} from './tool.ts'

type BringInput = {node: string; run: string; inputs: RunInput[]}

export type BucketKinds = {'bucket.bring': {input: BringInput; output: InputBrought[]}}

export interface BucketEnv {
  host(node: string): Host | Promise<Host>
  /** Sections of rclone.conf. Secret. */
  remotes: string
  context: Context
}

export const BUCKET_HANDLERS: Handlers<BucketKinds, BucketEnv> = {'bucket.bring': bring}

/** Milliseconds before each further try after a lost connection. */
const AGAIN_MS = [500, 2000, 5000, 15_000, 30_000]

/** One a node, where a run has inputs or uploads: rclone, and each input copied and compared. Pure. */
export function bucketSteps(
  nodes: readonly string[],
  {run, inputs, uploads}: {run: string; inputs: RunInput[]; uploads: RunUpload[]},
): StepOf<BucketKinds>[] {
  if (inputs.length === 0 && uploads.length === 0) return []
  const after = uploads.length > 0 ? `for uploads to ${uploads.map(({to}) => to).join(', ')}` : ''
  const title =
    inputs.length === 0
      ? `Have rclone, ${after}`
      : `Copy ${inputs.map(({name, from}) => `${from} as the input ${name}`).join(', ')}` +
        (after ? `; rclone is there ${after}, too` : '')
  return nodes.map((node) => ({
    id: `bucket:${node}`,
    node,
    kind: 'bucket.bring',
    title,
    needs: [],
    input: {node, run, inputs},
  }))
}

/**
 * After a lost connection it goes on: what has come does not come again. Errors: NOT_FOUND, NODE_UNREACHABLE,
 * NODE_UNFIT.
 */
async function bring(
  {node, run, inputs}: BringInput,
  _done: unknown,
  {host: hostOf, remotes, context}: BucketEnv,
): Promise<InputBrought[]> {
  const {signal, reporter} = context
  for (let tries = 0; ; tries++) {
    const progress =
      inputs.length > 0 ? reporter.begin(`Copy ${inputs.map(({from}) => from).join(', ')}`, node) : undefined
    try {
      const host = await hostOf(node)
      await needRclone(host, context)
      if (inputs.length === 0) return []
      const brought = await host.call(
        'bucket.bring',
        {run, inputs, remotes},
        {
          signal,
          onEvent: (event) =>
            void (event.event === 'progress' && progress?.amount(event.done ?? 0, event.total ?? 0, 'bytes')),
        },
      )
      progress?.done()
      return brought
    } catch (error) {
      progress?.fail()
      const wait = AGAIN_MS[tries]
      if (!isLinkTrouble(error) || signal.aborted || wait === undefined) throw error
      reporter.warn(`the connection to ${node} was lost while inputs were copied; it goes on where it was`)
      await pause(wait, undefined, {signal}).catch(() => {})
    }
  }
}
