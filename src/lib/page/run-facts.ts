import {sizeText} from '../base/index.ts'
import type {PageRunDetail, PageStacks} from '../head/index.ts'
import {describeCause, type RunFigures, type RunStacks, type ShownRun} from '../runs/index.ts'
import {runFacts} from './facts.ts'

const ms = (seconds: number | undefined): number | null => (seconds === undefined ? null : seconds * 1000)

/** What the page shows of one run. Pure. */
export function detailFacts(run: ShownRun): PageRunDetail {
  const {command, commit, environment, data, code, params, artifacts, attempts, hangs, figures, ranks, away} = run
  return {
    ...runFacts(run),
    command,
    commit,
    environment,
    data,
    params,
    away,
    code: code.map(({digest, files, bytes}) => ({digest, files, bytes})),
    lastMetrics: run.lastMetrics.map(({key, value, step}) => ({key, value, step})),
    artifacts: artifacts.map(({path, size}) => ({path, size: size ?? null})),
    attempts: attempts.map((one) => ({
      attempt: one.attempt,
      status: one.status,
      started: ms(one.started),
      ended: ms(one.ended),
      why: one.why ?? null,
      cause: one.cause ? describeCause(one.cause) : null,
      nodes: one.nodes ?? [],
      steps: one.steps ?? null,
    })),
    hangs: hangs.map(({at, attempt, message, lines, suspects}) => ({
      at: at * 1000,
      attempt,
      text: message,
      lines,
      suspects: suspects.map(({rank, node, why}) => ({rank, node, why})),
    })),
    ranks: (figures?.ranks ?? []).map((one) => ({
      rank: one.rank,
      node: one.node,
      steps: one.steps,
      rate: one.samplesPerSecond ?? one.tokensPerSecond,
      wait: one.dataWait?.share ?? null,
      cpu: one.cpu,
      memory: one.memory,
    })),
    slowest: attempts.at(-1)?.pace?.slowest?.message ?? null,
    ranksStarted: startOf(ranks),
    figures: figures ? figureFacts(figures) : [],
  }
}

/** When the last rank of the first attempt was started. */
function startOf(ranks: ShownRun['ranks']): number | null {
  const first = ranks[0]?.attempt
  const times = ranks.filter((one) => one.attempt === first).map((one) => one.started)
  return times.length === 0 ? null : Math.max(...times) * 1000
}

function figureFacts({
  samplesPerSecond,
  tokensPerSecond,
  dataWait,
  gpuHours,
  cpu,
  gpu,
  received,
  sent,
}: RunFigures): [string, string][] {
  const rate = (value: number): string => String(Number(value.toPrecision(4)))
  return [
    ...(samplesPerSecond === null ? [] : [['samples/s', rate(samplesPerSecond)] as [string, string]]),
    ...(tokensPerSecond === null ? [] : [['tokens/s', rate(tokensPerSecond)] as [string, string]]),
    ...(dataWait === null ? [] : [['waits for data', `${Math.round(dataWait.share * 100)} %`] as [string, string]]),
    ...(gpuHours > 0 ? [['GPU hours', rate(gpuHours)] as [string, string]] : []),
    ...(gpu === null ? [] : [['GPUs busy', `${Math.round(gpu)} %`] as [string, string]]),
    ...(cpu === null ? [] : [['processors busy', `${Math.round(cpu)} %`] as [string, string]]),
    ...(received === null || sent === null
      ? []
      : [['network', `${sizeText(received)} in, ${sizeText(sent)} out`] as [string, string]]),
  ]
}

/** Where ranks are just now. Pure. */
export function stackFacts({attempt, groups, failed}: RunStacks): PageStacks {
  return {attempt, groups, failed}
}
