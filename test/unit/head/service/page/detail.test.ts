import {expect, test} from 'vitest'
import {nodeNow} from '../../../../../src/lib/head/service/page/node-now.ts'
import {nodeBody} from '../../../../../src/lib/head/service/page/node.ts'
import {originBody} from '../../../../../src/lib/head/service/page/origin.ts'
import {hangsSection, ranksSection, stacksBody} from '../../../../../src/lib/head/service/page/ranks.ts'
import {rackBody} from '../../../../../src/lib/head/service/page/rack.ts'
import {invokeCommand, trySection} from '../../../../../src/lib/head/service/page/try.ts'
import type {PageOrigin, PageRank, PageRunDetail, PageTopology} from '../../../../../src/lib/head/types.ts'
import {rackOf} from '../../../../support/page-facts.ts'

const hostile = '<img src=x onerror=alert(1)>'
const wiring: PageTopology = {
  node: 'gpu01',
  source: 'nvidia-smi',
  numa: [{node: 0, cpus: '0-7', memory: 2 ** 36}],
  gpus: [0, 1].map((index) => ({index, name: hostile, memory: 2 ** 30, numaNode: index === 0 ? 0 : null, nic: 'eth0'})),
  nics: [{name: 'eth0', kind: 'ethernet', up: false, speed: 25, numaNode: 0}],
  links: [
    [null, 'NV4'],
    ['NV4', null],
  ],
  nicLinks: [['PHB', 'odd']],
  findings: [{text: hostile, why: 'slow'}],
}

test('a node is drawn by NUMA nodes, with its links in words and what is badly wired; what nobody places stands apart', () => {
  const {text} = nodeBody(wiring)
  expect(text).toContain('NUMA 0')
  expect(text).toContain('elsewhere')
  expect(text.match(/class="near0">NV4</g)).toHaveLength(2)
  expect(text).toContain('<td class="near3">PHB</td>')
  expect(text).toContain('<td class="near6">odd</td>')
  expect(text).not.toContain('<img')
  expect(nodeBody({...wiring, numa: [], gpus: [], nics: [], links: [], nicLinks: []}).text).toContain('no NUMA node')
})

test('where something comes from is a list in a list, with the arrow that does not hold; runs and endpoints lead on', () => {
  const run: PageOrigin = {
    kind: 'run',
    name: 'digits-ab12c',
    facts: [['seed', hostile]],
    check: {holds: false, why: 'its record is another one'},
    from: [],
  }
  const {text} = originBody('model/digits/3', {
    tree: {kind: 'model', name: hostile, facts: [], from: [run]},
    broken: {arrow: 'model digits/3 -> run digits-ab12c', why: 'its record is another one'},
  })
  expect(text).toContain('model digits/3 -&gt; run digits-ab12c does not hold')
  expect(text).toContain('href="/flexrack/ui/runs/digits-ab12c"')
  expect(text).toContain('✗ its record is another one')
  expect(text).toContain('flexrack why model/digits/3 --verify')
  expect(text).not.toContain('<img')
})

test('a rank that is slower than the others stands out, and a hang says who was waited for, and where it was', () => {
  const rank = (at: number, rate: number | null): PageRank => ({
    rank: at,
    node: hostile,
    steps: 9,
    rate,
    wait: 0.5,
    cpu: null,
    memory: null,
  })
  const detail = {slowest: null, hangs: [], ranks: [rank(0, 10), rank(1, 10), rank(2, 5)]} as unknown as PageRunDetail
  const {text} = ranksSection(detail)
  expect(text.match(/class="slow"/g)).toHaveLength(1)
  expect(text).toContain('slower: 2')
  expect(ranksSection({...detail, ranks: [rank(0, null)]}).text).toBe('<section id="ranks"></section>')
  expect(ranksSection({...detail, ranks: [rank(0, null), rank(1, null)]}).text).not.toContain('NaN')
  const suspects = [{rank: 3, node: 'gpu02', why: hostile}]
  const hang = {at: 1, attempt: 1, text: 'rank 3 has not come', lines: ['data.py:41 in load'], suspects}
  expect(hangsSection({...detail, hangs: [hang]}, 2).text).toMatch(/rank 3 on gpu02: &lt;img.*data\.py:41 in load/)
  const frames = [{file: hostile, line: 7, function: 'load'}]
  const stacks = stacksBody('digits-ab12c', {attempt: 2, groups: [{ranks: [0, 1, 2, 5], frames}], failed: []}).text
  expect(stacks).toContain('4 ranks: 0-2,5')
  expect(stacks).toMatch(/<pre [^>]*><span/)
  expect(stacks).not.toContain('<img')
})

test('a request that was tried stays in its field, and its command is quoted for a shell', () => {
  const text = `it's </textarea>${hostile}`
  const drawn = trySection('digits', 'openai', {text, answer: {text: hostile, milliseconds: 3}}).text
  expect(drawn).not.toContain('<img')
  expect(drawn.match(/<\/textarea>/g)).toHaveLength(1)
  expect(trySection('digits', 'v2', {text, error: 'no server'}).text).toContain('no server')
  expect(invokeCommand('digits', {text: "it's"})).toBe(String.raw`flexrack endpoint invoke digits --data 'it'\''s'`)
  expect(invokeCommand('digits', {text: 'a\nb'})).toBe('flexrack endpoint invoke digits --input FILE')
})

test("a node's page says of each GPU who has it and from where, and what goes on there; of one that is gone, that", () => {
  const rack = rackOf(8)
  const look = {rack, busy: new Map<string, never>()}
  const text = (name: string, error?: string): string =>
    nodeNow(name, {value: look, at: 1000, error}, 61_000).text.replaceAll(/\s+/g, ' ')
  const [first] = rack.nodes
  expect(text('gpu01').match(/aria-label="GPU \d: \d+ % busy"/g)).toHaveLength(first!.gpus.length)
  expect(text('gpu01')).toContain(
    '<td><div>bob@lab2</div></td> <td><div>run digits-ab12c</div></td> <td><div>10.0.9.7</div></td>',
  )
  expect(text('gpu01')).toContain('<td>free</td>')
  expect(text('gpu01')).toContain('href="/flexrack/ui/runs/digits-ab12c"')
  expect(text('gpu06')).toContain('gpu06 does not answer: connection timed out after 10 s')
  expect(text('gpu99', 'no head ui is there.')).toContain(
    'no head ui is there. What is shown was seen 1 min ago.</p><p class="warn">The rack has no such node any more.',
  )
})

test('a node that was to go is no failure: it is told apart, and not counted', () => {
  const rack = rackOf(8)
  const nodes = rack.nodes.map((one) => ({...one, gone: !one.ok}))
  const {text} = rackBody({rack: {...rack, nodes}, at: 1, error: undefined, busy: new Map()}, 1)
  expect(text).toContain('all answer')
  expect(text).toContain('</i>gone</span>')
  expect(text).not.toContain('unreachable')
})
