import type {Plan} from '../plan/index.ts'
import {stateOf} from './leading.ts'
import type {FoundRun} from './types.ts'

/** What stopRun would do. */
export function stopPlan(run: FoundRun, how: {grace?: number | undefined; kill?: boolean}): Plan {
  const nodes = run.nodes.filter((one) => one.live)
  const grace = how.kill ? 'SIGKILL' : `SIGTERM, ${how.grace === undefined ? 'the grace of its manifest' : `${how.grace} s`}, SIGKILL`
  return {
    command: 'runs stop',
    steps: nodes.map((one) => ({id: `stop:${one.node}`, node: one.node, kind: 'runs.stop', title: `Stop the ranks of ${run.run} (${grace})`, input: {run: run.run, ...how}, needs: []})),
  }
}

/** What Runs.remove would do. */
export function removePlan(run: FoundRun): Plan {
  const files = run.nodes.map((one) => ({id: `remove:${one.node}`, node: one.node, kind: 'runs.remove', title: `Delete the files of ${run.run}`, input: {run: run.run}, needs: [] as string[]}))
  const {tracked} = stateOf(run)
  const record = {id: 'record', node: null, kind: 'runs.remove', title: `Delete the record of ${run.run}`, input: {run: run.run, tracked}, needs: files.map((step) => step.id)}
  return {command: 'runs remove', steps: tracked === null ? files : [...files, record]}
}
