import {count, sizeText} from '../../lib/base/index.ts'
import type {OperatorTime, RankProfile, TraceSummary} from '../../lib/protocol/index.ts'
import type {RunProfile} from '../../lib/runs/index.ts'
import {paint} from '../terminal/print.ts'
import {duration, table} from '../terminal/render.ts'

const NAME_WIDTH = 60

/** `runs profile`: a row a rank, then the operators and kernels of one of them. */
export function profileText(
  profile: RunProfile,
  {rank, top, traces}: {rank?: number | undefined; top: number; traces: readonly string[]},
): string {
  const {run, wanted, ranks, slowest, failed} = profile
  const shown = ranks.find((one) => one.rank === (rank ?? slowest ?? ranks.find(({summary}) => summary)?.rank))
  const hasDevice = ranks.some(({summary}) => summary?.device)
  const rows = ranks.map((one) => ({
    RANK: `${one.rank}`,
    NODE: one.node,
    ...(one.summary ? shares(one.summary) : {}),
    TRACE:
      one.path === null
        ? (one.note ?? missing(profile))
        : one.summary
          ? sizeText(one.bytes)
          : `${sizeText(one.bytes)}, not read: ${one.note}`,
  }))
  const columns = [
    'RANK',
    'NODE',
    'STEPS',
    'STEP',
    ...(hasDevice ? ['GPU IDLE'] : []),
    'DATA WAIT',
    'COLLECTIVES',
    'OVERLAPPED',
    'TRACE',
  ]
  const parts = [
    `${run}: ${count(wanted.steps, 'step')} of each rank, after ${wanted.skip}`,
    table(rows, columns),
    ...(slowest === null ? [] : [`rank ${slowest} computes longest between collectives; the others wait for it`]),
    ...(shown?.summary ? operatorParts(shown, shown.summary, top) : []),
    ...(traces.length > 0
      ? [traces.join('\n')]
      : ranks.some(({path}) => path !== null)
        ? [`to look at one: flexrack runs profile ${run} --open; or --to traces, and open them in ui.perfetto.dev`]
        : []),
    ...failed.map(({node, message}) => paint.yellow(`${node} was not asked: ${message}`)),
  ]
  return parts.join('\n\n')
}

function shares({steps, seconds, device, data_wait, collectives}: TraceSummary): Record<string, string> {
  const share = (part: number): string => `${Math.round((100 * part) / seconds)} %`
  return {
    STEPS: `${steps}`,
    STEP: duration((1000 * seconds) / steps),
    'GPU IDLE': device ? share(Math.max(0, seconds - device.busy)) : '-',
    'DATA WAIT': share(data_wait),
    COLLECTIVES: collectives.count === 0 ? '-' : share(collectives.seconds),
    OVERLAPPED: collectives.seconds > 0 ? `${Math.round((100 * collectives.overlapped) / collectives.seconds)} %` : '-',
  }
}

function missing({live, wanted}: RunProfile): string {
  return live ? 'not yet' : `none: it made fewer than ${wanted.skip + 1} steps of a torch optimizer, or was killed`
}

function operatorParts({rank}: RankProfile, summary: TraceSummary, top: number): string[] {
  const rows = (times: readonly OperatorTime[]): Record<string, string>[] =>
    times.slice(0, top).map(({name, calls, self, total}) => ({
      NAME: name.length > NAME_WIDTH ? `${name.slice(0, NAME_WIDTH - 1)}…` : name,
      CALLS: `${calls}`,
      SELF: duration(self * 1000),
      '%': `${Math.round((100 * self) / summary.seconds)}`,
      TOTAL: duration(total * 1000),
    }))
  return [
    ...(summary.kernels.length > 0
      ? [`on the GPU, rank ${rank}\n${table(rows(summary.kernels), ['NAME', 'CALLS', 'SELF', '%'])}`]
      : []),
    ...(summary.operators.length > 0
      ? [`on the CPU, rank ${rank}\n${table(rows(summary.operators), ['NAME', 'CALLS', 'SELF', '%', 'TOTAL'])}`]
      : []),
  ]
}
