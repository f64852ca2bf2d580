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
export function planPeople(command: string, node: string, changes: readonly PeopleChange[]): PlanOf<PeopleKinds> {
  const steps = changes.map(({title, ...input}, at) => ({
    id: `change:${at}`,
    node,
    kind: 'people.change' as const,
    title,
    input,
    needs: at === 0 ? [] : [`change:${at - 1}`],
  }))
  return {command, steps}
}

/** What the head answered to each. Errors: those of the connection's request. */
export async function carryOutPeople(
  plan: PlanOf<PeopleKinds>,
  head: HeadConnection,
  context: Context,
): Promise<object[]> {
  const outcomes = await executePlan(plan, HANDLERS, {head}, context)
  throwIfFailed(outcomes)
  return valuesOf<PeopleKinds, 'people.change'>(outcomes, 'people.change')
}
