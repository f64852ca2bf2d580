import {stripVTControlCharacters} from 'node:util'
import {expect, it} from 'vitest'
import {matrixText, preflightText} from '../../../../src/cli/train/preflight-text.ts'
import {
  CHECKS,
  groupFindings,
  type CheckName,
  type PreflightResult,
  type Rate,
  type Way,
} from '../../../../src/lib/preflight/index.ts'
import {judge} from '../../../../src/lib/preflight/preflight.ts'

/** A rack of so many nodes with the given ways broken and rates slow (`from to`). */
function rack(count: number, broken: string[] = [], slow: string[] = []): PreflightResult {
  const nodes = Array.from({length: count}, (_, index) => `node-${index + 1}`)
  const pairs = nodes.flatMap((from) => nodes.filter((to) => to !== from).map((to) => ({from, to})))
  const ways = pairs.map(({from, to}): Way =>
    broken.includes(`${from} ${to}`) ? {from, to, error: 'silent', text: 'no answer'} : {from, to, ms: 0.1},
  )
  const rates = pairs.map(({from, to}): Rate => ({from, to, rate: slow.includes(`${from} ${to}`) ? 9e7 : 9.4e9}))
  const measured = {
    nodes: nodes.map((node) => ({
      node,
      address: '10.0.0.1',
      state: {shm: {total: 64 << 20, free: 64 << 20}, missing: {}},
    })),
    ways,
    rates,
    pairs: {possible: pairs.length / 2, measured: pairs.length / 4},
  }
  const times = {open: 1, reach: 1, bandwidth: 1, facts: 1, total: 4200}
  const checks = Object.keys(CHECKS) as CheckName[]
  const findings = judge({...measured, times}, checks, {processes: 1})
  return {
    ok: findings.every((one) => one.severity !== 'error'),
    nodes,
    checks,
    skipped: [],
    findings,
    ways,
    rates,
    pairs: measured.pairs,
    times,
  }
}
const plain = (text: string): string => stripVTControlCharacters(text)

it('shows the whole matrix of a few nodes', () => {
  expect(plain(matrixText(rack(3, ['node-1 node-3'], ['node-2 node-3'])))).toBe(
    [
      'FROM \\ TO  node-1  node-2  node-3',
      'node-1          .    9.4G  silent',
      'node-2       9.4G       .   90M !',
      'node-3       9.4G    9.4G       .',
    ].join('\n'),
  )
})

it('shows only the bad rows of many nodes, a character a node', () => {
  const text = plain(matrixText(rack(64, ['node-17 node-33'], ['node-64 node-1'])))
  const lines = text.split('\n')
  expect(lines.length).toBe(4)
  expect(lines[1]).toBe('node-17  .......... ......-... .......... ..x....... .......... .......... ....')
  expect(lines[2]).toBe('node-64  !......... .......... .......... .......... .......... .......... ...-')
  expect(lines[3]).toContain('From the other 62 nodes every way is fine.')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(160)
  expect(plain(matrixText(rack(64)))).toBe('')
})

it('says the same thing about many nodes once, and what was sampled', () => {
  const text = plain(preflightText(rack(64, ['node-17 node-33'])))
  expect(text.match(/^warning/gm)?.length).toBe(1)
  expect(text).toContain('warning shm: node-1, node-2, node-3 and 61 more: /dev/shm has only 64 MiB')
  expect(text).toContain(
    'error reach: node-17 does not reach node-33, though node-33 reaches node-17: what is sent there gets no answer',
  )
  expect(text).toContain(
    'Ways: 4031 of 4032 open. Bandwidth of 1008 of 2016 pairs (what there was time for): 9.4G to 9.4G bit/s, one TCP stream each.',
  )
  expect(text).toContain('Preflight of 64 nodes in 4.2 s: 1 error, 64 warnings.')
})

it('stays readable where everything is broken', () => {
  const names = Array.from({length: 64}, (_, index) => `node-${index + 1}`)
  const broken = names.flatMap((from, index) => names.slice(index + 1, index + 3).map((to) => `${from} ${to}`))
  const lines = plain(preflightText(rack(64, broken))).split('\n')
  expect(lines.length).toBeLessThan(120)
  expect(lines.some((line) => /and \d+ more rows like these/.test(line))).toBe(true)
  expect(lines.some((line) => /\.\.\. and \d+ more; --json has all of them/.test(line))).toBe(true)
})

it('gives one way out for several nodes', () => {
  const find = (node: string, fix: string) => ({
    severity: 'error' as const,
    check: 'limits' as const,
    node,
    message: `${node}: too few`,
    fix,
  })
  expect(groupFindings([find('a', 'as root on a: x'), find('b', 'as root on b: x')])).toEqual([
    {severity: 'error', check: 'limits', message: 'a, b: too few', fix: 'as root on each of them: x'},
  ])
  expect(
    groupFindings([find('a', 'flexrack check --fix --on a'), find('b', 'flexrack check --fix --on b')])[0]?.fix,
  ).toBe('flexrack check --fix --on a,b')
})
