import {OWN_LEASES} from '../gpu/index.ts'
import {fromStep, type FromStep, type StepOf} from '../plan/index.ts'
import type {ModelFile, ModelNeeds, Release, Replica} from './document.ts'
import type {Transition} from './plan.ts'
import type {StartInput, TransitionKinds} from './steps.ts'

type Step = StepOf<TransitionKinds>

/** What a transition has of its model: as the release says, or as a first step brings it. */
export interface TransitionModel {
  steps: Step[]
  files: FromStep | ModelFile[]
  needs: FromStep | ModelNeeds | null
  /** Steps that say what the model needs; none where that is known. */
  asked: string[]
}

/** Of nodes that are to have the model. */
export function modelOf({release, fetch, asksModel}: Transition, nodes: string[]): TransitionModel {
  const {model, runtime} = release
  if (!fetch || nodes.length === 0) return {steps: [], files: model.files, needs: model.needs ?? null, asked: []}
  const name = nameOf(release)
  const step: Step = {
    id: 'fetch',
    node: null,
    kind: 'endpoint.fetch',
    title: `Fetch model ${name}`,
    input: {model: name, runtime},
    needs: [],
  }
  return {
    steps: [step],
    files: fromStep(step.id, 'files'),
    needs: asksModel ? fromStep(step.id, 'needs') : (model.needs ?? null),
    asked: asksModel ? [step.id] : [],
  }
}

/** What a node has to have before servers start there. `together`: others get the same at the same time. */
export function nodeSteps(change: Transition, node: string, model: TransitionModel, together: boolean): Step[] {
  const {endpoint, release} = change
  return [
    ...(release.custom ? codeSteps(change, node) : [environmentStep(change, node, model, together)]),
    {
      id: `place:${node}`,
      node,
      kind: 'endpoint.place',
      title: `Put model ${nameOf(release)} into place`,
      input: {node, endpoint, release: release.id, model: nameOf(release), files: model.files},
      needs: model.steps.map((one) => one.id),
    },
  ]
}

/** Starts a server, and waits until it answers. */
export function bringUpSteps(
  {endpoint, release}: Transition,
  replica: Replica,
  {needs, asked}: TransitionModel,
  seconds: number | null,
): Step[] {
  const {node, service} = replica
  const {runtime} = release
  return [
    {
      id: `start:${service}`,
      node,
      kind: 'endpoint.start',
      title: `Start model server ${service}${leasesText(release)}`,
      ...startOf(endpoint, release, replica),
    },
    {
      id: `ready:${service}`,
      node,
      kind: 'endpoint.ready',
      title: `Wait until ${service} is ready and answers`,
      input: {endpoint, service, runtime, started: fromStep(`start:${service}`), seconds, needs},
      needs: [`start:${service}`, ...asked],
    },
  ]
}

/** A server that its node's agent starts when the head wants it. */
export function prepareStep({endpoint, release}: Transition, replica: Replica): Step {
  return {
    id: `prepare:${replica.service}`,
    node: replica.node,
    kind: 'endpoint.prepare',
    title: `Prepare model server ${replica.service}, asleep${leasesText(release)}`,
    ...startOf(endpoint, release, replica),
  }
}

function environmentStep(
  {endpoint, release, asksModel}: Transition,
  node: string,
  model: TransitionModel,
  together: boolean,
): Step {
  const {runtime} = release
  return {
    id: `environment:${node}`,
    node,
    kind: 'endpoint.environment',
    title:
      `Python environment of the runtime ${runtime}` + (asksModel || release.model.needs ? ' and of the model' : ''),
    input: {node, endpoint, runtime, together, needs: model.needs},
    needs: model.asked,
  }
}

/** The code of a server of the project's own is kept with the release, unless a node has it from the last time. */
function codeSteps({endpoint, release, before = [], project = ''}: Transition, node: string): Step[] {
  if (release.custom?.places[node]) return []
  return [
    {
      id: `code:${node}`,
      node,
      kind: 'endpoint.code',
      title: `Keep the code of ${project} with release ${release.id}`,
      input: {node, endpoint, release: release.id, project},
      needs: before.filter((step) => step.node === node).map((step) => step.id),
    },
  ]
}

function startOf(endpoint: string, release: Release, replica: Replica): {input: StartInput; needs: string[]} {
  const {node} = replica
  const {custom, model, runtime} = release
  const kept = custom?.places[node]
  const has = custom ? (kept ? [] : [`code:${node}`]) : [`environment:${node}`]
  const input = {
    endpoint,
    release: release.id,
    version: model.version,
    runtime,
    replica,
    environment: custom ? null : fromStep(`environment:${node}`),
    code: custom ? (kept ?? fromStep(`code:${node}`)) : null,
    placed: fromStep(`place:${node}`),
    gpus: release.gpus ?? null,
  }
  return {input, needs: [...has, `place:${node}`]}
}

function nameOf({model}: Release): string {
  return `${model.name}/${model.version}`
}

function leasesText({gpus}: Release): string {
  if (!gpus) return ''
  return `, which leases ${OWN_LEASES.text(gpus)}${gpus.remote ? ' of its node or of another one' : ''} while it runs`
}
