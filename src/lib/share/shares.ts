import {CliError, type Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import {needBubblewrap} from '../image/index.ts'
import {executePlan, throwIfFailed, valuesOf, type Handlers, type PlanOf} from '../plan/index.ts'
import type {Share, ShareEnded, ShareMade, ShareReplied, Shares as NodeShares} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'

export interface ShareWish {
  /** On the node: absolute, or below the home with ~/. */
  folder: string
  user: string
  access: 'read' | 'write'
  name?: string | undefined
  /** Seconds since 1970. */
  until?: number | undefined
  /** The other's public key: then nothing is waited for. */
  key?: string | undefined
}

type AddInput = Required<Pick<ShareWish, 'folder' | 'user' | 'access'>> & {
  node: string
  name: string | null
  until: number | null
  key: string | null
}
type RemoveInput = {node: string; name: string; user: string | null}

export type ShareKinds = {
  'share.add': {input: AddInput; output: ShareMade}
  'share.remove': {input: RemoveInput; output: ShareEnded}
}

interface ShareEnv {
  fleet: Fleet
  node: RackNode
  context: Context
}

const HANDLERS: Handlers<ShareKinds, ShareEnv> = {
  'share.add': add,
  'share.remove': async ({name, user}, _done, env) =>
    (await openHost(env.fleet, env.node, env.context)).call('share.remove', {name, user}, {signal: env.context.signal}),
}

async function add(
  {node: _node, ...order}: AddInput,
  _done: unknown,
  {fleet, node, context}: ShareEnv,
): Promise<ShareMade> {
  const host = await openHost(fleet, node, context)
  if (order.access === 'write') await needBubblewrap(host, context)
  return host.call('share.add', order, {signal: context.signal})
}

/** The shares of one node. */
export interface Shares {
  list(): Promise<NodeShares>
  planAdd(wish: ShareWish): PlanOf<ShareKinds>
  /** `user` undefined: with whomever it is shared. */
  planRemove(name: string, user: string | undefined): PlanOf<ShareKinds>
  /** Errors: those of `share.add`. */
  add(plan: PlanOf<ShareKinds>): Promise<ShareMade>
  /** Errors: NOT_FOUND. */
  remove(plan: PlanOf<ShareKinds>): Promise<ShareEnded>
  /** Errors: NOT_FOUND; USAGE where a key is needed. */
  reply(share: Pick<Share, 'owner' | 'name'>, accept: boolean, key?: string): Promise<ShareReplied>
}

export function openShares(fleet: Fleet, node: RackNode, context: Context): Shares {
  const env = {fleet, node, context}
  const carryOut = async <K extends keyof ShareKinds & string>(
    plan: PlanOf<ShareKinds>,
    kind: K,
  ): Promise<ShareKinds[K]['output']> => {
    const outcomes = await executePlan(plan, HANDLERS, env, context)
    throwIfFailed(outcomes)
    const [value] = valuesOf<ShareKinds, K>(outcomes, kind)
    if (value === undefined) throw new CliError('INTERRUPTED', 'nothing was changed')
    return value
  }
  const host = () => openHost(fleet, node, context)
  return {
    list: async () => (await host()).call('share.list', null, {signal: context.signal}),
    planAdd: ({folder, user, access, name, until, key}) => ({
      command: 'share add',
      steps: [
        {
          id: 'share',
          node: node.name,
          kind: 'share.add',
          needs: [],
          title:
            access === 'read'
              ? `Let ${user} read ${folder}, by access control lists`
              : `Let ${user} write into ${folder}, as its owner, through SSH and in a sandbox`,
          input: {node: node.name, folder, user, access, name: name ?? null, until: until ?? null, key: key ?? null},
        },
      ],
    }),
    planRemove: (name, user) => ({
      command: 'share remove',
      steps: [
        {
          id: 'share',
          node: node.name,
          kind: 'share.remove',
          needs: [],
          title: `Take ${name} back from ${user ?? 'all'}`,
          input: {node: node.name, name, user: user ?? null},
        },
      ],
    }),
    add: (plan) => carryOut(plan, 'share.add'),
    remove: (plan) => carryOut(plan, 'share.remove'),
    reply: async ({owner, name}, accept, key) =>
      (await host()).call('share.reply', {owner, name, accept, key: key ?? null}, {signal: context.signal}),
  }
}
