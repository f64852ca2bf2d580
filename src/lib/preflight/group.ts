import type {PreflightFinding} from './types.ts'

/** The same finding about several nodes, said once. */
export interface FindingGroup {
  severity: PreflightFinding['severity']
  check: PreflightFinding['check']
  message: string
  fix?: string
}

/**
 * Findings in their order, those that differ only in their node as one: `node-1, node-2, node-3 and 61 more: ...`.
 * Pure.
 */
export function groupFindings(findings: readonly PreflightFinding[]): FindingGroup[] {
  const groups = new Map<string, PreflightFinding[]>()
  for (const finding of findings) {
    const key =
      finding.node === undefined
        ? JSON.stringify(finding)
        : `${finding.severity} ${anonymous(finding.message, finding.node)}`
    groups.set(key, [...(groups.get(key) ?? []), finding])
  }
  return [...groups.values()].map(asOne)
}

function asOne(group: PreflightFinding[]): FindingGroup {
  const [{severity, check, node, message, fix}] = group as [PreflightFinding]
  if (group.length === 1 || node === undefined) return {severity, check, message, ...(fix !== undefined && {fix})}
  const nodes = group.map((one) => one.node)
  const named = nodes.length > 4 ? `${nodes.slice(0, 3).join(', ')} and ${nodes.length - 3} more` : nodes.join(', ')
  return {
    severity,
    check,
    message: `${named}: ${anonymous(message, node)}`,
    ...(fix !== undefined && {fix: fixOfAll(fix, node, nodes)}),
  }
}

function fixOfAll(fix: string, node: string, nodes: (string | undefined)[]): string {
  return fix.includes(`--on ${node}`)
    ? fix.replace(`--on ${node}`, `--on ${nodes.join(',')}`)
    : fix.replace(`on ${node}`, 'on each of them')
}

function anonymous(message: string, node: string): string {
  return message.startsWith(`${node}: `) ? message.slice(node.length + 2) : message
}
