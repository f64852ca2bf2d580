import {CliError, isOver} from '../base/index.ts'
import {nearestName} from '../document/index.ts'
import type {Rack, RackNode} from './types.ts'

/**
 * The nodes a selector means, in the order of the rack file: names, globs (* ? [a-z]), label=value (globs too), all;
 * several separated by commas. Without a selector: `fallback`. A node whose time is over is meant by its name alone,
 * unless all are over. Throws NOT_FOUND for a part that matches no node, USAGE for an empty one.
 */
export function selectNodes(
  rack: Rack,
  selector: string | undefined,
  fallback: RackNode[],
  now = Date.now(),
): RackNode[] {
  const named = selector?.split(',').map((part) => part.trim()) ?? []
  const meant = meantNodes(rack, selector, fallback)
  const there = meant.filter((node) => !isOver(node.until, now) || named.includes(node.name))
  return there.length > 0 ? there : meant
}

function meantNodes(rack: Rack, selector: string | undefined, fallback: RackNode[]): RackNode[] {
  if (selector === undefined) return fallback
  const parts = selector.split(',').map((part) => part.trim())
  const chosen = new Set<RackNode>()
  for (const part of parts) {
    if (part === '')
      throw new CliError('USAGE', `the node selector "${selector}" has an empty part`, {
        hint: `--on ${rack.nodes[0]?.name ?? 'NAME'}`,
      })
    const matching = rack.nodes.filter(matcher(part))
    if (matching.length === 0) throw noMatch(rack, part)
    for (const node of matching) chosen.add(node)
  }
  return rack.nodes.filter((node) => chosen.has(node))
}

function matcher(part: string): (node: RackNode) => boolean {
  if (part === 'all') return () => true
  const equals = part.indexOf('=')
  if (equals > 0) {
    const label = part.slice(0, equals)
    const value = globPattern(part.slice(equals + 1))
    return (node) => Object.hasOwn(node.labels, label) && value.test(node.labels[label] ?? '')
  }
  const name = globPattern(part)
  return (node) => name.test(node.name)
}

function globPattern(glob: string): RegExp {
  const pattern = glob.replace(/\[!?[^\]]+\]|[^]/g, (token) => {
    if (token === '*') return '[^]*'
    if (token === '?') return '[^]'
    if (token.length > 1)
      return token
        .replace(/^\[!/, '[^')
        .replace(/[\\^](?!$)/g, (char, at) => (char === '^' && at === 1 ? char : `\\${char}`))
    return token.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')
  })
  try {
    return new RegExp(`^${pattern}$`, 'u')
  } catch {
    // A range such as [z-a]: matches nothing, and noMatch says so.
    return /(?!)/
  }
}

function noMatch(rack: Rack, part: string): CliError {
  const names = rack.nodes.map((node) => node.name)
  const labels = [
    ...new Set(rack.nodes.flatMap((node) => Object.entries(node.labels).map(([label, value]) => `${label}=${value}`))),
  ]
  const isLabel = part.includes('=')
  const isGlob = /[*?[]/.test(part)
  const nearest = isGlob ? undefined : nearestName(part, isLabel ? labels : names)
  const known = (isLabel ? labels : names).slice(0, 20).join(', ')
  const what = isLabel
    ? `no node of the rack ${rack.name} has the label ${part}`
    : isGlob
      ? `no node of the rack ${rack.name} matches ${part}`
      : `the rack ${rack.name} has no node "${part}"`
  return new CliError(
    'NOT_FOUND',
    `${what}${nearest ? `; did you mean "${nearest}"?` : known ? '' : `; it has no labels at all`}`,
    {
      hint: nearest ? `--on ${nearest}` : `flexrack rack show ${rack.name}`,
      details: {nodes: names, labels},
    },
  )
}
