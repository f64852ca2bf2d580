import {gzipSync} from 'node:zlib'
import {describe, expect, test} from 'vitest'
import {compareBody} from '../../../../../src/lib/head/service/page/compare.ts'
import {curves, meter, spark} from '../../../../../src/lib/head/service/page/draw.ts'
import {address, Html, html} from '../../../../../src/lib/head/service/page/html.ts'
import {documentOf} from '../../../../../src/lib/head/service/page/layout.ts'
import {logSection, readChoice} from '../../../../../src/lib/head/service/page/log.ts'
import {logLines} from '../../../../../src/lib/head/service/page/log-lines.ts'
import {rackBody, rackParts, type RackSeen} from '../../../../../src/lib/head/service/page/rack.ts'
import {filterRuns, readFilter, runsBody} from '../../../../../src/lib/head/service/page/runs.ts'
import {SCRIPT} from '../../../../../src/lib/head/service/page/script.ts'
import {STYLE} from '../../../../../src/lib/head/service/page/style.ts'
import {sweepBody} from '../../../../../src/lib/head/service/page/sweeps.ts'
import {sizes} from '../../../../../src/lib/head/service/page/words.ts'
import type {PageLines, PageRunDetail} from '../../../../../src/lib/head/types.ts'
import {rackOf, runsOf} from '../../../../support/page-facts.ts'

const NOW = Date.UTC(2026, 10, 26, 12)
const seen = (nodes: number): RackSeen => ({
  rack: rackOf(nodes, {now: NOW}),
  at: NOW,
  error: undefined,
  busy: new Map(
    Array.from({length: nodes}, (_, index) => [
      `gpu${String(index + 1).padStart(2, '0')}`,
      Array.from({length: 60}, (__, at) => (at % 9) / 9),
    ]),
  ),
})
const whole = (body: Parameters<typeof documentOf>[0]['body']): string =>
  documentOf(
    {page: 'rack', title: 'Rack', body, command: 'flexrack top', isLive: true},
    {rack: 'lab', racks: ['lab'], may: true, alone: true, user: undefined},
  )
/** Every tag of the text, as a browser would read it. */
const tags = (text: string): string[] => [...text.matchAll(/<[a-z][^>]*>/gi)].map(([tag]) => tag)

describe('whatever is put in', () => {
  test('is text, in contents and in attributes', () => {
    const hostile = `<img src=x onerror="alert('1')">&`
    expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(
      '<p title="&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;">&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;</p>',
    )
    expect(html`${[html`<b>${1}</b>`, undefined, null, false, '<']}`.text).toBe('<b>1</b>&lt;')
    expect(html`${'a\u202Eb\u0000c\u0007'}`.text, 'what turns text around or is not seen').toBe('a\uFFFDb\uFFFDc\uFFFD')
    expect(address(['runs', '../a b?"'], {text: '"&', none: ''})).toBe('/flexrack/ui/runs/..%2Fa%20b%3F%22?text=%22%26')
  })

  test('makes no element of its own on any page', () => {
    const body = runsBody(
      {runs: runsOf(NOW), away: '<i>', unasked: ['<u>']},
      '<s>',
      readFilter(new URLSearchParams('text=<b>&state=<a>')),
      NOW,
    )
    const compared = compareBody(
      {
        runs: runsOf(NOW).slice(3, 4),
        metrics: [
          {
            name: '<x>',
            lines: [
              [
                [0, 1],
                [1, 2],
              ],
            ],
          },
        ],
        params: [{'<p>': '<v>'}],
        missing: ['<y>'],
      },
      runsOf(NOW),
      NOW,
    )
    for (const {text} of [
      body,
      compared,
      runsBody({runs: runsOf(NOW), away: null, unasked: []}, undefined, readFilter(new URLSearchParams()), NOW),
    ]) {
      expect(
        tags(text).filter((tag) => /^<(img|script|b|i|u|s|x|y)[ >]/.test(tag) && !/^<i (class|aria)/.test(tag)),
      ).toEqual([])
      expect(text).not.toMatch(/ on[a-z]+="/)
    }
  })

  test('of a log too: colours of a terminal become classes, other sequences go', () => {
    const {text} = logLines(
      '\u001B[31mred\u001B[0m <b>\n10%\r20%\nValueError: x\n\u001B]0;title\u0007plain\u001B[2K\n',
      'red',
    )
    expect(text).toContain('<mark><span class="a31">red</span> &lt;b&gt;</mark>')
    expect(text).toContain('<span class="l">20%\n')
    expect(text).toContain('<span class="l err">ValueError: x\n')
    expect(text).toContain('<span class="l">plain\n')
  })

  test('what a node says of a log, too, where there should be numbers', () => {
    const said = {rank: '"><i>', to: '"><i>', from: 0, size: 9, node: 'gpu01', attempt: 1, ranks: [0], attempts: [1]}
    const lines = {...said, text: 'x\n', open: true} as unknown as PageLines
    const run = {run: 'digits-ab12c', worldSize: 1} as PageRunDetail
    expect(logSection(run, readChoice(new URLSearchParams()), lines, undefined).text).not.toContain('<i>')
  })
})

describe('the rack', () => {
  test('of 64 nodes has a row a node and a cell a GPU, in at most 60 KB with its style and script', () => {
    const text = whole(rackBody(seen(64), NOW))
    expect(text.match(/<tr id="node-/g)).toHaveLength(64)
    // Of eight nodes one shares none, and one does not answer.
    expect(text.match(/class="gpu /g)).toHaveLength(63 * 8)
    const bytes = [text, STYLE, SCRIPT].reduce((sum, one) => sum + gzipSync(one).length, 0)
    expect(bytes).toBeLessThan(60 * 1024)
  })

  test('without nodes, or before anybody has looked, says so', () => {
    const empty = {...rackOf(1, {now: NOW}), nodes: [], runs: [], leases: []}
    expect(rackBody({...seen(0), rack: empty}, NOW).text).toContain('flexrack rack add')
    expect(rackBody({...seen(0), rack: undefined, at: 0, error: 'nobody <is> there'}, NOW).text).toContain(
      'nobody &lt;is&gt; there',
    )
  })

  test('has every part that changes in its body, by its id', () => {
    const text = rackBody(seen(3), NOW).text
    for (const [id, part] of Object.entries(rackParts(seen(3), NOW))) {
      expect(text).toContain(`id="${id}"`)
      if (part instanceof Html) expect(text).toContain(part.text)
      else expect(part).toEqual([...text.matchAll(/<tr id="(node-[^"]+)"/g)].map(([, row]) => row))
    }
  })

  test('says which GPUs are free, shared, used from elsewhere, leased and idle', () => {
    const text = rackBody(seen(2), NOW).text
    expect(text).toContain('bob@lab2 (run digits-ab12c) has 100 %, used from 10.0.9.7')
    expect(text).toMatch(/class="gpu taken idle"/)
    expect(text).toMatch(/class="gpu free"/)
    expect(text).toContain('<b>×2</b>')
  })
})

test('runs are filtered and sorted as the address says', () => {
  const chosen = (query: string): string[] =>
    filterRuns(runsOf(NOW), readFilter(new URLSearchParams(query))).map((one) => one.run)
  expect(chosen('state=open')).toEqual(['digits-ab12c', 'llama-x0k3p'])
  expect(chosen('text=NO+SUCH+FILE')).toEqual(['<img src=x onerror=alert(1)>'])
  expect(chosen('project=digits&state=finished')).toEqual(['digits-9dkw2'])
  expect(chosen('sort=loss')[0]).toBe('resnet-7tq1m')
  expect(chosen('sort=loss&order=low')[0]).toBe('digits-ab12c')
  // Who has no such value is last either way.
  expect([chosen('sort=loss').at(-1), chosen('sort=loss&order=low').at(-1)]).toEqual(['llama-x0k3p', 'llama-x0k3p'])
})

test('who started a run is told where several did, and can be filtered by', () => {
  const list = {runs: runsOf(NOW), away: null, unasked: []}
  const shown = (query: string): string =>
    runsBody(list, undefined, readFilter(new URLSearchParams(query)), NOW).text.replaceAll(/\s+/g, ' ')
  expect(shown('')).toContain('<th scope="col">user</th>')
  expect(shown('user=alice')).toContain('<option value="alice" selected>')
  expect(filterRuns(list.runs, readFilter(new URLSearchParams('user=alice'))).map((one) => one.run)).toEqual([
    'digits-ab12c',
  ])
  const alone = {...list, runs: list.runs.map((one) => ({...one, user: 'alice'}))}
  expect(runsBody(alone, undefined, readFilter(new URLSearchParams()), NOW).text).not.toContain('data-name="user"')
})

test('of runs that are compared the parameters that differ are shown, and how many are the same', () => {
  const runs = runsOf(NOW).slice(0, 3)
  const compared = (params: Record<string, string>[]): string =>
    compareBody({runs, metrics: [], params, missing: []}, [], NOW).text.replaceAll(/\s+/g, ' ')
  const text = compared([
    {lr: '0.1', seed: '7', constructor: 'a'},
    {lr: '0.2', seed: '7'},
    {lr: '0.1', seed: '7'},
  ])
  expect(text).toMatch(/constructor<\/th> <td class="value">a<\/td><td class="value"><\/td><td class="value"><\/td>/)
  expect(text).toMatch(/lr<\/th> <td class="value">0.1<\/td><td class="value">0.2<\/td><td class="value">0.1<\/td>/)
  expect(text).not.toContain('seed')
  expect(text).toContain('1 is the same')
  expect(compared([{lr: '1'}, {lr: '1'}, {lr: '1'}])).toContain('None: they were started with the same.')
  expect(compared([{}, {}, {}])).not.toContain('Parameters')
})

test('pictures of nothing, of one value and of many are whole', () => {
  expect(meter(null, 'x').text).toContain('width="0"')
  expect(spark([], 60, 'x').text).not.toContain('NaN')
  expect(curves([], {title: 'loss', x: 'step', log: false}).text).toContain('no values yet')
  expect(curves([{name: 'a', points: [[3, 1]]}], {title: 'loss', x: 'step', log: false}).text).toContain('<circle')
  const many = Array.from({length: 50_000}, (_, index): [number, number] => [
    index,
    index === 31_234 ? 99 : Math.sin(index / 100),
  ])
  const {text} = curves(
    [
      {name: 'a', points: many},
      {name: 'b', points: [[0, Number.NaN]]},
    ],
    {title: 'loss', x: 'step', log: false},
  )
  expect(text.length).toBeLessThan(12_000)
  expect(text, 'the one peak is there').toContain('data-y="-0.999')
  expect(text).toMatch(/data-y="[^"]*,99"/)
  expect(text).not.toContain('NaN')
  expect(sizes(2 ** 30, 3 * 2 ** 30)).toBe('1 of 3 GiB')
})

test('a sweep is drawn with words, numbers over powers of ten, and trials that failed', () => {
  const trial = (number: number, value: number | null, lr: number, opt: string) => ({
    number,
    state: 'complete',
    value,
    params: {lr, opt},
    run: null,
  })
  const {text} = sweepBody({
    sweep: 'digits-lr',
    project: 'digits',
    status: 'finished',
    metric: 'loss',
    goal: 'minimize',
    best: 0.1,
    importance: {lr: 0.8, opt: 0.2},
    trials: [trial(0, 0.4, 1e-5, 'sgd'), trial(1, 0.1, 1e-2, 'adam'), trial(2, null, 1, 'sgd')],
  })
  expect(text).toContain('the best has loss 0.1')
  expect(text.match(/<polyline points/g)).toHaveLength(2)
  expect(text).not.toContain('NaN')
})

test('the script is one that a browser can read, and neither it nor the style is at another host', () => {
  expect(() => new Function(SCRIPT)).not.toThrow()
  for (const text of [SCRIPT, STYLE, whole(rackBody(seen(2), NOW))])
    expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:\/\//)
  expect(whole(rackBody(seen(2), NOW))).not.toMatch(/ style="| onclick=/)
})
