import {isCliError, type Context} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import type {QuotaDesk} from '../holding/index.ts'
import {executePlan, type Handlers, type PlanOf, type StepOf, type StepOutcome} from '../plan/index.ts'
import type {RunRepaired, RunStopped} from '../protocol/index.ts'
import {hostOf, type Place} from './find.ts'
import {stateOf} from './leading.ts'
import {recordAt} from './records.ts'
import type {Unsent} from './repair.ts'
import type {FoundRun} from './types.ts'

/** null: the grace that the run was started with. */
type StopInput = {node: string; run: string; grace: number | null; kill: boolean}

export type RunKinds = {
  'runs.stop': {input: StopInput; output: RunStopped}
  'runs.remove': {input: {node: string; run: string}; output: void}
  /** `tracked`: id of the tracking server's run. */
  'runs.record': {input: {run: string; tracked: string}; output: void}
  /** `seconds`: for the node's own waiting. */
  'run.repair': {input: {node: string; run: string; seconds: number}; output: RunRepaired}
}

interface RunEnv {
  place: Place
  tracking: Tracking | undefined
  /** Of a rack that has quotas. */
  desk?: QuotaDesk | undefined
  context: Context
}

/** For the node's own waiting, in seconds: files may be large. */
const PATIENCE = 300

const HANDLERS: Handlers<RunKinds, RunEnv> = {
  // Also when the command was interrupted: that is when a run is to end.
  'runs.stop': async ({node, run, grace, kill}, _done, {place, context}) =>
    (await hostOf(place, node, context)).call('run.stop', {run, ...(grace !== null && {grace}), kill}),
  'runs.remove': async ({node, run}, _done, {place, desk, context}) => {
    const host = await hostOf(place, node, context)
    const {kept} = await host.call('run.remove', {run, ...(desk && {measure: true})}, {signal: context.signal})
    if (kept) await desk?.kept({node, ...kept})
  },
  'runs.record': async ({tracked}, _done, {tracking}) => {
    try {
      if (tracking) await (await recordAt(tracking, tracked)).mlflow.deleteRun(tracked)
    } catch (error) {
      if (!isCliError(error, 'NOT_FOUND')) throw error
    }
  },
  'run.repair': async ({node, run, seconds}, _done, {place, tracking, context}) =>
    (await hostOf(place, node, context)).call(
      'run.repair',
      {run, seconds, ...(await tracking?.userAccess())},
      {signal: context.signal},
    ),
}

export interface StopHow {
  grace?: number | undefined
  kill?: boolean
}

/** On all nodes of the run that are known: where none of its ranks is alive, the step is the proof. Pure. */
export function stopPlan({run, nodes}: FoundRun, {grace, kill = false}: StopHow): PlanOf<RunKinds> {
  const how = kill ? 'SIGKILL' : `SIGTERM, ${grace === undefined ? 'the grace of its manifest' : `${grace} s`}, SIGKILL`
  const steps = nodes.map(({node, live}): StepOf<RunKinds> => ({
    id: `stop:${node}`,
    node,
    kind: 'runs.stop',
    title: live ? `Stop the ranks of ${run} (${how})` : `Prove that nothing of ${run} is left`,
    input: {node, run, grace: grace ?? null, kill},
    needs: [],
  }))
  return {command: 'runs stop', steps}
}

/** The nodes first: a record without files is found again, files without a record would be told as untracked. Pure. */
export function removePlan(run: FoundRun): PlanOf<RunKinds> {
  const files = run.nodes.map(({node}): StepOf<RunKinds> => ({
    id: `remove:${node}`,
    node,
    kind: 'runs.remove',
    title: `Delete the files of ${run.run}`,
    input: {node, run: run.run},
    needs: [],
  }))
  const {tracked} = stateOf(run)
  if (tracked === null) return {command: 'runs remove', steps: files}
  const record: StepOf<RunKinds> = {
    id: 'record',
    node: null,
    kind: 'runs.record',
    title: `Delete the record of ${run.run}`,
    input: {run: run.run, tracked},
    needs: files.map((step) => step.id),
  }
  return {command: 'runs remove', steps: [...files, record]}
}

/** Pure. */
export function repairPlan({run}: FoundRun, unsent: Unsent[]): PlanOf<RunKinds> {
  const steps = unsent.map(({node, count}): StepOf<RunKinds> => ({
    id: node,
    node,
    kind: 'run.repair',
    title: `Send ${count} kept writes of ${run} again`,
    input: {node, run, seconds: PATIENCE},
    needs: [],
  }))
  return {command: 'runs repair', steps}
}

/**
 * Never throws for a step. The steps' own calls are what Ctrl-C ends, not the plan: what was stopped on one node has to
 * be stopped on all.
 */
export function carryOut(plan: PlanOf<RunKinds>, env: RunEnv): Promise<StepOutcome[]> {
  return executePlan(plan, HANDLERS, env, {signal: new AbortController().signal})
}
