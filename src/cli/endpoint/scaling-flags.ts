import {Flags} from '@oclif/core'
import {CliError} from '../../lib/base/index.ts'
import type {ReplicaWish} from '../../lib/endpoint/index.ts'
import {readReplicaRange} from '../../lib/manifest/index.ts'

/** By what the head chooses how many servers run, where their number is a range. */
export const scalingFlags = {
  target: Flags.string({
    helpValue: 'REQUESTS',
    description: 'of a range: requests under way and waiting that one server is to have (default: as before, else 4)',
  }),
  idle: Flags.integer({
    helpValue: 'SECONDS',
    description: 'of a range from 0: without a request for so long no server runs (default: as before, else 600)',
    min: 1,
  }),
  down: Flags.integer({
    helpValue: 'SECONDS',
    description: 'of a range: for so long fewer servers have to do before one ends (default: as before, else 300)',
    min: 0,
  }),
}

interface Given {
  target?: string | undefined
  idle?: number | undefined
  down?: number | undefined
}

/** `3` or `0..4`, with the flags. USAGE for what is neither, and for flags that go with a range alone. */
export function readReplicas(text: string | undefined, {target, idle, down}: Given): ReplicaWish | undefined {
  const range = text === undefined ? undefined : readReplicaRange(text)
  if (text !== undefined && !range)
    throw new CliError('USAGE', `"${text}" is no number of servers`, {hint: 'a number, or a range such as 0..4'})
  const isTuned = target !== undefined || idle !== undefined || down !== undefined
  if (isTuned && range?.minReplicas === undefined)
    throw new CliError('USAGE', '--target, --idle and --down go with a range of servers', {hint: '1..4, or 0..4'})
  const load = target === undefined ? undefined : Number(target)
  if (load !== undefined && !(load >= 0.01 && load <= 10_000))
    throw new CliError('USAGE', `"${target}" is no number of requests`, {hint: '--target 4'})
  return (
    range && {
      ...range,
      ...(load !== undefined && {target: load}),
      ...(idle !== undefined && {idle}),
      ...(down !== undefined && {down}),
    }
  )
}
