import {CliError, pinsOf, readPythonLocks, sizeText} from '../base/index.ts'
import type {PlanOf, StepOf} from '../plan/index.ts'
import type {FoundRun} from '../runs/index.ts'
import type {FoundEvents, NodeEvents} from './find.ts'
import type {BoardKinds} from './steps.ts'

export interface BoardWish {
  /** Of the board: lower-case letters and digits. */
  id: string
  runs: readonly FoundRun[]
  /** Only this rank's files. */
  rank: number | undefined
  /** Seconds after which it ends if nobody looks; 0: never. */
  idle: number
  /** Most bytes of event files. */
  limit: number
}

/**
 * What has to be done to show event files: on the node that has most of them, with copies of the others'. Errors:
 * NOT_FOUND where there are none and none will come, NODE_UNFIT where there are more than `limit`. Pure.
 */
export function planBoard({id, runs, rank, idle, limit}: BoardWish, {nodes, failed}: FoundEvents): PlanOf<BoardKinds> {
  const names = runs.map(({run}) => run)
  const total = nodes.reduce((sum, {bytes}) => sum + bytes, 0)
  const first = nodes.reduce<NodeEvents | undefined>(
    (most, one) => (most && most.bytes >= one.bytes ? most : one),
    undefined,
  )
  if (!first || (total === 0 && !nodes.some(({live}) => live))) throw noEvents(names, rank, nodes, failed)
  if (total > limit) {
    throw new CliError(
      'NODE_UNFIT',
      `the event files have ${sizeText(total)}, and TensorBoard keeps much of them in the memory of ${first.node}; it is to have ${sizeText(limit)} at most`,
      {
        hint: names.length > 1 ? 'name fewer runs, or say --rank 0, or --limit' : 'say --rank 0, or --limit',
        details: {bytes: total, limit},
      },
    )
  }
  const {node} = first
  const [server] = pinsOf(readPythonLocks(['tensorboard']), ['tensorboard'])
  const others = nodes.filter((one) => one !== first && (one.files.length > 0 || one.live))
  const steps: StepOf<BoardKinds>[] = [
    {
      id: 'server',
      node,
      kind: 'board.server',
      title: `Have an environment with ${server}`,
      input: {node, board: id},
      needs: [],
    },
    {
      id: 'start',
      node,
      kind: 'board.start',
      title: `Show ${filesText(first)} of ${names.join(', ')}, until nobody looks for ${idle} s`,
      input: {node, board: id, runs: names, rank: rank ?? null, idle},
      needs: ['server'],
    },
    ...others.map((one): StepOf<BoardKinds> => ({
      id: `bring ${one.node}`,
      node: one.node,
      kind: 'board.bring',
      title: `Copy ${filesText(one)} to ${node}${one.live ? ', and what is added to them' : ''}`,
      input: {from: one.node, to: node},
      needs: ['start'],
    })),
  ]
  return {command: 'runs tensorboard', steps}
}

function noEvents(
  runs: readonly string[],
  rank: number | undefined,
  nodes: FoundEvents['nodes'],
  failed: FoundEvents['failed'],
): CliError {
  const looked = nodes.map(({node, looked: folders}) => `${folders.join(' and ')} on ${node}`)
  const away = failed.length > 0 ? `; ${failed.map(({node}) => node).join(', ')} did not answer` : ''
  return new CliError(
    'NOT_FOUND',
    `${runs.join(', ')} wrote no event files${rank === undefined ? '' : ` as rank ${rank}`}: none of the time of the run ${looked.length > 0 ? 'lies in its outputs or the folder it ran in' : 'was found'}${away}`,
    {
      hint: 'write them with SummaryWriter below the current folder, or below $FLEXRACK_OUTPUTS; flexrack runs plot shows what was logged to MLflow',
      details: {looked, failed},
    },
  )
}

function filesText({files, bytes}: {files: readonly unknown[]; bytes: number}): string {
  return `${files.length} event file${files.length === 1 ? '' : 's'} (${sizeText(bytes)})`
}
