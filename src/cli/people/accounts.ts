import type {Rack} from '../../lib/rack/index.ts'

/** What roles do not reach: on nodes the account counts, and nothing there tells two people with one account apart. Pure. */
export function accountsLine({nodes, head}: Pick<Rack, 'nodes' | 'head'>): string {
  const users = [...new Set(nodes.map((one) => one.user ?? 'your own name'))]
  const own = nodes.find((one) => one.name === head.node)?.user
  const account = own === undefined ? "the account of the head's node" : `the account ${own} of the head's node`
  return (
    `Roles hold at the head. On nodes your account counts (${users.join(', ')}): people who share one are not kept apart ` +
    `there, and whoever may use the one that started the head is its admin (${account}).`
  )
}
