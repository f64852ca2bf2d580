import {expect, test} from 'vitest'
import {
  answerText,
  changeText,
  endpointListText,
  endpointShowText,
  type ShowAnswer,
} from '../../../../src/cli/endpoint/text.ts'

const summary = {
  name: 'digits',
  url: 'http://127.0.0.1:4000/endpoints/digits',
  model: 'digits/3',
  release: 'r2',
  replicas: 1,
  range: undefined,
  state: 'serving' as const,
  protocol: 'v2' as const,
  callUrl: 'http://127.0.0.1:4000/endpoints/digits/v2/models/digits/infer',
  since: new Date().toISOString(),
  canary: undefined,
}
const show: ShowAnswer = {
  ...summary,
  traffic: [],
  scaling: undefined,
  queue: undefined,
  cors: ['https://app.example'],
  runtime: 'onnx',
  rollback: 'r1',
  certificates: '/state/lab.pem',
  releases: [
    {
      id: 'r2',
      model: {name: 'digits', version: '3', files: []},
      runtime: 'onnx',
      state: 'active',
      replicas: [],
      createdAt: summary.since,
      by: 'me@here',
      kept: true,
    },
  ],
  servers: [
    {
      index: 0,
      node: 'node-1',
      release: 'r2',
      place: undefined,
      service: 'endpoint-digits-r2-0',
      url: 'http://127.0.0.1:18000',
      state: 'running',
      restarts: 2,
      exit: 'signal KILL',
      inFlight: 0,
      served: 7,
      gpus: [],
    },
  ],
}

test('what waits is shown where anything waited or failed, and nothing of it elsewhere', () => {
  const queue = {
    inFlight: 64,
    queued: 12,
    most: 1000,
    concurrency: 64,
    waited: 90,
    p50: 4,
    p99: 41,
    full: 3,
    expired: 0,
    late: 2,
    retries: 0,
    ejected: ['http://127.0.0.1:18000'],
    down: [],
  }
  expect(endpointShowText({...show, queue})).toContain(
    '12 of 1000 wait; 90 waited (p50 4 ms, p99 41 ms); 3 refused as it was full; 2 past their deadline; taken out for a while, as they failed: http://127.0.0.1:18000',
  )
  const quiet = {...queue, queued: 0, waited: 0, full: 0, late: 0, ejected: []}
  expect(endpointShowText({...show, queue: quiet})).toBe(endpointShowText(show))
})

test('pages that may call it are shown, where there are any', () => {
  expect(endpointShowText(show)).toMatch(/pages: +those of https:\/\/app\.example may call it \(CORS\)/)
  expect(endpointShowText({...show, cors: []})).not.toContain('CORS')
})

test('no endpoints: what to do is said', () => {
  expect(endpointListText([])).toContain('flexrack endpoint deploy')
})

test('an endpoint that does not answer is told so where it is listed and shown, with the way out', () => {
  const failing = {...summary, state: 'failing' as const}
  expect(endpointListText([summary])).not.toContain('endpoint show')
  expect(endpointListText([summary, {...failing, name: 'other'}])).toMatch(
    /other +failing[^]*other: no model server answers; which, and the way out: flexrack endpoint show other$/,
  )
  expect(endpointShowText({...show, ...failing})).toMatch(/state: +failing: no model server answers/)
})

test('what was deployed is told with its address and the next step', () => {
  const text = changeText({command: 'deploy', changed: true, endpoint: summary})
  expect(text).toContain('Endpoint digits serves digits/3 (release r2, 1 replica).')
  expect(text).toContain('http://127.0.0.1:4000/endpoints/digits/v2/models/digits/infer')
  expect(changeText({command: 'deploy', changed: false, endpoint: summary})).toContain('already')
})

test('a canary is told with its part of the requests, and how to end it', () => {
  const canary = {
    release: 'r3',
    model: 'digits/4',
    replicas: 1,
    percent: 10,
    steps: [10],
    judged: false,
    header: 'x-user',
    since: summary.since,
    verdict: undefined,
    shadow: false,
    copies: undefined,
  }
  const text = changeText({command: 'deploy', changed: true, endpoint: {...summary, canary}})
  expect(text).toContain('Release r3 of endpoint digits (digits/4, 1 replica) gets 10 % of the requests; release r2')
  expect(text).toMatch(/endpoint promote digits[^]*endpoint abort digits/)
  expect(endpointListText([{...summary, canary}])).toMatch(/digits +serving +digits\/3 +r2, r3 10 %/)
  const figures = {requests: 9, failed: 1, refused: 0, abandoned: 0, inFlight: 0, p50: 4.2, p95: 8, p99: null}
  const shown = endpointShowText({...show, canary, traffic: [{release: 'r3', percent: 10, ...figures}]})
  expect(shown).toMatch(/canary: +r3 \(digits\/4\) gets 10 %, since .*; split by x-user/)
  const copies = {
    copied: 9,
    same: 7,
    different: 2,
    failed: 0,
    uncompared: 0,
    dropped: 1,
    lastDifference: 'outputs.length',
  }
  expect(endpointShowText({...show, canary: {...canary, percent: 0, shadow: true, copies}})).toContain(
    'of 9 answers 7 the same, 2 different (last at outputs.length), 0 failed, 0 not compared; 1 copies dropped',
  )
  expect(shown).toMatch(/r3 +10 % +9 +1 +0 +0 +4.2 ms +8 ms +-/)
})

test('a server that was started again shows how often and why', () => {
  expect(endpointShowText(show)).toContain('2 (last: signal KILL)')
})

test('the token is shown only where it was asked for', () => {
  expect(endpointShowText(show)).toContain('Bearer $TOKEN')
  expect(endpointShowText({...show, token: 'endpoint.x.y'})).toContain('Bearer endpoint.x.y')
})

test('servers that do not run come with the command that helps', () => {
  expect(endpointShowText({...show, servers: [{...show.servers[0]!, state: 'lost'}]})).toContain(
    'flexrack endpoint deploy digits brings them up again',
  )
})

test('an answer is shown by rows, with the largest value of each', () => {
  const text = answerText({
    model_name: 'digits',
    model_version: '3',
    milliseconds: 4.2,
    outputs: [{name: 'scores', datatype: 'FP32', shape: [2, 3], data: [0.5, 2, 1, 3, 1, 2]}],
  })
  expect(text).toBe(
    'scores  FP32 (2, 3)\n  0: 0.50000  2  1   largest at 1\n  1: 3  1  2   largest at 0\n\ndigits version 3, 4.2 ms',
  )
})

test('a long answer is cut, and --json is named', () => {
  const text = answerText({
    model_name: 'm',
    milliseconds: 1,
    outputs: [{name: 'y', datatype: 'FP32', shape: [50, 1], data: Array.from({length: 50}, () => 0)}],
  })
  expect(text).toContain('… 30 more rows (--json gives all)')
})
