import {CliError, isCliError, type Context} from '../base/index.ts'
import {executePlan, throwIfFailed, type Handlers, type PlanOf, type StepOf} from '../plan/index.ts'
import {editRack, type Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {connectHead} from './connect.ts'
import {headNode} from './places.ts'
import {planHead} from './plan.ts'
import {startHead} from './start.ts'
import type {HeadStatus} from './types.ts'

export type PromotionKinds = {
  'head.swap': {input: {path: string; head: string; standby: string}; output: Rack}
}

const HANDLERS: Handlers<PromotionKinds, object> = {'head.swap': swap}

/** The standby becomes the head, for when the head's node is lost. */
export const promotion = {
  /**
   * What it would do. Errors: NOT_FOUND without a standby; CONFLICT where the head answers, as there would be two.
   */
  async plan(rack: Rack, fleet: Fleet, context: Context): Promise<PlanOf<PromotionKinds>> {
    const {name} = headNode(rack, 'standby')
    await requireAway(rack, fleet, context)
    const change: StepOf<PromotionKinds> = {
      id: 'swap',
      node: null,
      kind: 'head.swap',
      title: `Make ${name} the head in ${rack.path}, and ${rack.head.node} its standby`,
      input: {path: rack.path, head: name, standby: rack.head.node},
      needs: [],
    }
    const {steps} = await planHead(swapped(rack), fleet, context, 'start', {firstOnly: true})
    const start = steps.map((step) => ({...step, needs: step.needs.length > 0 ? step.needs : ['swap']}))
    return {command: 'head promote', steps: [change, ...(start as unknown as StepOf<PromotionKinds>[])]}
  },

  /** Errors: as plan, and those of startHead. */
  async carryOut(rack: Rack, fleet: Fleet, context: Context): Promise<HeadStatus> {
    const {steps, ...plan} = await promotion.plan(rack, fleet, context)
    const own = steps.filter((step) => step.kind === 'head.swap')
    throwIfFailed(await executePlan({...plan, steps: own}, HANDLERS, {}, context))
    if (rack.head.store === undefined)
      context.reporter.warn(
        `runs, models and artifacts were kept on ${rack.head.node} only: tracking starts empty on ${rack.head.standby}. Endpoints, their keys and releases were taken over.`,
      )
    return startHead(swapped(rack), fleet, context)
  },
}

async function swap({path, head, standby}: {path: string; head: string; standby: string}): Promise<Rack> {
  return editRack(path, (rack) => {
    if (rack.head.node !== standby || rack.head.standby !== head)
      throw new CliError('CONFLICT', `${path} was changed meanwhile`, {hint: `flexrack rack show ${rack.name}`})
    return swapped(rack)
  })
}

function swapped(rack: Rack): Rack {
  const {node, standby = node} = rack.head
  // An address that was given for the old node is none of the new one.
  const {bind, ...head} = rack.head
  const isShared = bind !== undefined && ['0.0.0.0', '::', '127.0.0.1', '::1', 'localhost'].includes(bind)
  return {...rack, head: {...head, ...(isShared && {bind}), node: standby, standby: node}}
}

async function requireAway(rack: Rack, fleet: Fleet, context: Context): Promise<void> {
  try {
    const head = await connectHead(rack, fleet, context)
    try {
      await head.request('GET', '/flexrack/v1/status')
    } finally {
      await head.close()
    }
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND', 'NODE_UNREACHABLE', 'TIMED_OUT', 'HEAD_FAILED')) return
    throw error
  }
  throw new CliError('CONFLICT', `the head on ${rack.head.node} answers, so there would be two`, {
    hint: `flexrack head stop --first --rack ${rack.name}`,
  })
}
