import type {Context} from '../base/index.ts'
import type {HeadConnection} from '../head/index.ts'
import {executePlan, throwIfFailed, valuesOf, type Handlers, type PlanOf} from '../plan/index.ts'

/** A change of people at the head: what it is asked, and how that is said. */
export interface PeopleChange {
  title: string
  method: 'PUT' | 'POST' | 'DELETE'
  /** Below /flexrack/v1/people. */
  path: string
  body: Record<string, unknown> | null
}

export type PeopleKinds = {'people.change': {input: Omit<PeopleChange, 'title'>; output: object}}

const HANDLERS: Handlers<PeopleKinds, {head: HeadConnection}> = {
  'people.change': ({method, path, body}, _done, {head}) =>
    head.request<object>(method, `/flexrack/v1/people/${path}`, body ?? undefined),
}

/** Pure. */
export function planPeople(command: string, node: string, {title, ...input}: PeopleChange): PlanOf<PeopleKinds> {
  return {command, steps: [{id: 'change', node, kind: 'people.change', title, input, needs: []}]}
}

/** What the head answered. Errors: those of the connection's request. */
export async function carryOutPeople(
  plan: PlanOf<PeopleKinds>,
  head: HeadConnection,
  context: Context,
): Promise<object> {
  const outcomes = await executePlan(plan, HANDLERS, {head}, context)
  throwIfFailed(outcomes)
  return valuesOf<PeopleKinds, 'people.change'>(outcomes, 'people.change')[0]!
}
