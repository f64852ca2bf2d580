import type {CheckName} from './checks.ts'
import type {NodeMeasured, PreflightFinding, Rate, Way} from './types.ts'

/** Below this share of the usual rate a pair is slow; below the other one the run would do nothing but wait for it. */
export const SLOW_SHARE = 0.5
const HOPELESS_SHARE = 0.1

/**
 * What the ways between the nodes mean for a run: a node that nobody reaches is told once, everything else by pair.
 * Pure.
 */
export function judgePairs(
  {nodes, ways, rates}: {nodes: NodeMeasured[]; ways: Way[]; rates: Rate[]},
  checks: readonly CheckName[],
): PreflightFinding[] {
  return [
    ...(checks.includes('reach') ? judgeWays(nodes, ways) : []),
    ...(checks.includes('bandwidth') ? judgeRates(rates) : []),
  ]
}

function judgeWays(nodes: NodeMeasured[], ways: Way[]): PreflightFinding[] {
  const direct = ways.filter((way) => !way.rendezvous)
  const failed = direct.filter((way) => way.error !== undefined)
  const addressOf = (node: string): string => nodes.find((one) => one.node === node)?.address ?? '?'
  const findings: PreflightFinding[] = []
  const cutOff = new Set<string>()
  if (nodes.length > 2) {
    const [waysTo, waysFrom] = [Map.groupBy(direct, (way) => way.to), Map.groupBy(direct, (way) => way.from)]
    for (const {node} of nodes) {
      const [to, from] = [waysTo.get(node) ?? [], waysFrom.get(node) ?? []]
      const [lostTo, lostFrom] = [
        to.filter((way) => way.error !== undefined),
        from.filter((way) => way.error !== undefined),
      ]
      if (to.length < 2 || lostTo.length < to.length) continue
      cutOff.add(node)
      const both = lostFrom.length === from.length && from.length > 0
      findings.push({
        severity: 'error',
        check: 'reach',
        node,
        message: `${node}: no other node reaches it at ${addressOf(node)}${both ? ', and it reaches none' : ''}: ${wordsOf(lostTo[0] as Way)}`,
        fix: fixOf(lostTo[0] as Way, addressOf),
      })
    }
  }
  const reported = new Set<string>()
  for (const way of failed) {
    if (cutOff.has(way.to) || cutOff.has(way.from) || reported.has(keyOf(way))) continue
    reported.add(keyOf(way))
    const back = failed.find((one) => one.from === way.to && one.to === way.from)
    const message = back
      ? `${way.from} and ${way.to} do not reach each other: ${wordsOf(way)}${back.error === way.error ? '' : `; the other way round ${wordsOf(back)}`}`
      : `${way.from} does not reach ${way.to}, though ${way.to} reaches ${way.from}: ${wordsOf(way)}`
    findings.push({severity: 'error', check: 'reach', pair: [way.from, way.to], message, fix: fixOf(way, addressOf)})
  }
  for (const way of ways.filter(
    (one) =>
      one.rendezvous &&
      one.error !== undefined &&
      !reported.has(keyOf(one)) &&
      !cutOff.has(one.to) &&
      !cutOff.has(one.from),
  )) {
    findings.push({
      severity: 'error',
      check: 'reach',
      pair: [way.from, way.to],
      message: `${way.from} does not reach ${way.to} at the ports of the rendezvous (20000-32767), though at others: ${wordsOf(way)}`,
      fix: fixOf(way, addressOf),
    })
  }
  return findings
}

function judgeRates(rates: Rate[]): PreflightFinding[] {
  const usual = referenceRate(rates)
  const reported = new Set<string>()
  const findings: PreflightFinding[] = []
  // The worse direction of a pair speaks for it.
  for (const one of rates.toSorted((a, b) => (a.rate ?? 0) - (b.rate ?? 0))) {
    const rate = one.rate ?? 0
    if (rate >= usual * SLOW_SHARE && rate > 0) break
    if (reported.has(keyOf(one))) continue
    reported.add(keyOf(one))
    const back = rates.find((other) => other.from === one.to && other.to === one.from)?.rate ?? 0
    const both = back < usual * SLOW_SHARE
    const pair: [string, string] = [one.from, one.to]
    if (rate === 0) {
      findings.push({
        severity: 'error',
        check: 'bandwidth',
        pair,
        message: `from ${one.from} to ${one.to} connections are made and nothing comes through${one.text === undefined ? '' : ` (${one.text})`}`,
        fix: 'compare the MTUs on the way: ip link   (on both), ping -M do -s 1472',
      })
      continue
    }
    const severity = rate < usual * HOPELESS_SHARE ? 'error' : 'warning'
    const message = `${both ? `between ${one.from} and ${one.to}` : `from ${one.from} to ${one.to}`} a TCP stream carries ${bitsText(rate)}${both ? '' : ` (back ${bitsText(back)})`}, where ${bitsText(usual)} is usual here`
    findings.push({
      severity,
      check: 'bandwidth',
      pair,
      message,
      fix: `check cable, duplex and shaping on both: ethtool NAME, tc qdisc; or leave one of them out with --on`,
    })
  }
  return findings
}

/** What ways of this rack usually carry: the median, of two the better one. 0 where nothing was measured. Bit/s. */
export function referenceRate(rates: readonly Rate[]): number {
  const known = rates.map((one) => one.rate ?? 0).toSorted((a, b) => a - b)
  return known[known.length >> 1] ?? 0
}

/** `9.4 Gbit/s`. */
export function bitsText(rate: number): string {
  return rate >= 1e9
    ? `${(rate / 1e9).toFixed(1)} Gbit/s`
    : rate >= 1e6
      ? `${(rate / 1e6).toFixed(rate >= 1e7 ? 0 : 1)} Mbit/s`
      : `${(rate / 1e3).toFixed(0)} kbit/s`
}

function wordsOf({error, text}: Way): string {
  if (error === 'silent') return 'what is sent there gets no answer'
  if (error === 'refused') return 'the connection is refused'
  if (error === 'large') return 'short messages pass, long ones do not (MTU)'
  return text ?? 'it fails'
}

function fixOf({from, to, error}: Way, addressOf: (node: string) => string): string {
  if (error === 'large') return `compare the MTUs on the way: ip link   (on ${from} and ${to})`
  if (error === 'route')
    return `ip route get ${addressOf(to)}   (on ${from}); or set address: of ${to} in the rack file to one that ${from} reaches`
  if (error === 'mute' || error === 'unverified')
    return `set address: of ${to} in the rack file; at ${addressOf(to)} something else answers`
  return `let TCP from ${addressOf(from)} pass to ${addressOf(to)}, all ports from 1024 on; for example on ${to}: sudo ufw allow proto tcp from ${addressOf(from)}`
}

const keyOf = ({from, to}: {from: string; to: string}): string => [from, to].toSorted().join(' ')
