import {beforeEach, describe, expect, test} from 'vitest'
import {whyText} from '../../../src/cli/lineage/text.ts'
import {meanings} from '../../../src/lib/lineage/why.ts'
import {walk} from '../../../src/lib/lineage/walk.ts'
import type {Why} from '../../../src/lib/lineage/types.ts'
import type {TrackedRun} from '../../../src/lib/tracking/index.ts'
import {sha256, tarOf, World} from '../../support/lineage.ts'

let world: World
let run: TrackedRun

beforeEach(() => {
  world = new World()
  run = world.run('digits-abcde')
  world.serve(run)
})

async function why(verify = true, signed = false): Promise<Why> {
  return (await walk('digits', {endpoint: 'digits'}, {evidence: world.evidence(), verify, signed})) as Why
}

const artifact = (path: string, content: Buffer | string): void =>
  void world.artifacts.set(`${run.id}/lineage/${path}`, Buffer.from(content as string))

test('it goes from what is served to who started it with what, and everything holds', async () => {
  const found = await why()
  expect(found.broken).toBeNull()
  const text = whyText(found)
  for (const word of ['digits/1', 'digits-abcde', 'by ada on laptop', 'seed=3', 'pets@dddddddddddd', 'gpu1'])
    expect(text).toContain(word)
  expect(text).toContain('Everything was hashed again')
})

describe('the first arrow that does not hold is named', () => {
  const changes: [what: string, change: () => void, arrow: RegExp, why: RegExp][] = [
    ['a model file on a node', () => (world.whole = false), /^endpoint digits -> release r1$/, /gpu1 has other/],
    [
      "the registry's checksum",
      () => void (world.versions.get('digits/1')!.tags['flexrack.sha256'] = sha256('x')),
      /^release r1 -> model digits\/1$/,
      /model.onnx of the release/,
    ],
    [
      'the record that the registry names',
      () => void (world.versions.get('digits/1')!.tags['flexrack.record'] = sha256('x')),
      /^release r1 -> model digits\/1$/,
      /names the record/,
    ],
    [
      'weights beside the graph',
      () => void world.release?.model.files.push({path: 'model.onnx.data', bytes: 1, sha256: sha256('x')}),
      /^model digits\/1 -> run digits-abcde$/,
      /model.onnx.data, which is served/,
    ],
    [
      'the model file in the store',
      () => void world.stored.get('digits/1')!.set('model.onnx', sha256('other')),
      /^model digits\/1 -> run digits-abcde$/,
      /model.onnx left the run as/,
    ],
    [
      "the run's tag",
      () => void (run.tags['flexrack.record'] = sha256('x')),
      /^model digits\/1 -> run digits-abcde$/,
      /one was changed/,
    ],
    [
      'an edited record',
      () => artifact('record.json', JSON.stringify({...world.record(run), user: 'eve'})),
      /-> run digits-abcde$/,
      /one was changed/,
    ],
    [
      'an edited record whose tags were changed with it',
      () =>
        void (world.versions.get('digits/1')!.tags['flexrack.record'] = world.keep(run, {
          ...world.record(run),
          user: 'eve',
        })),
      /^release r1 -> model/,
      /names the record/,
    ],
    [
      'the record of another run',
      () => void world.keep(run, world.record(world.run('other-fghij'))),
      /-> run digits-abcde$/,
      /another run, other-fghij/,
    ],
    ['the record is gone', () => void world.artifacts.delete(`${run.id}/lineage/record.json`), /-> run/, /no record/],
    ['the run is gone', () => void world.runs.delete(run.id), /-> run/, /no such run any more/],
    ['the version is gone', () => void world.versions.clear(), /-> model digits\/1/, /no such version/],
    [
      'a blob of the code',
      () =>
        artifact(
          'code.tar.gz',
          tarOf([
            {path: 'train.py', content: 'print(2)\n'},
            {path: 'pkg/model.py', content: 'm'},
          ]),
        ),
      /^run digits-abcde -> code/,
      /train.py is another one/,
    ],
    [
      'a blob too many',
      () =>
        artifact(
          'code.tar.gz',
          tarOf([...Object.entries(world.files).map(([path, content]) => ({path, content})), {path: 'x'}]),
        ),
      /-> code/,
      /x was not in it/,
    ],
    [
      'the list of files',
      () => artifact('tree.json', '{"schema":1,"entries":[]}'),
      /-> code/,
      /does not make the digest/,
    ],
    ['no pack at all', () => artifact('code.tar.gz', 'no gzip'), /-> code/, /damaged/],
    ['the lock', () => artifact('environment.txt', 'torch==2.1\n'), /-> environment e$/, /list of its packages was/],
    ['a data set', () => (world.badData = 'cat.png of it is another one'), /-> data pets@/, /cat.png/],
  ]
  test.each(changes)('%s', async (_what, change, arrow, because) => {
    change()
    const {broken} = await why()
    expect(broken?.arrow).toMatch(arrow)
    expect(broken?.why).toMatch(because)
  })
})

test('what a program logged by itself holds until it is to be hashed', async () => {
  const other = world.run('logged-abcde', {outputs: []})
  world.serve(other)
  expect((await why(false)).broken).toBeNull()
  expect((await why()).broken?.why).toMatch(/logged it by itself/)
})

test('a version of no run holds until it is to be hashed', async () => {
  const version = world.versions.get('digits/1')!
  world.versions.set('digits/1', {...version, runId: undefined})
  world.release = {...world.release!, model: {...world.release!.model, runId: undefined}}
  expect((await why(false)).broken).toBeNull()
  const found = await why()
  expect(found.broken).toMatchObject({arrow: 'release r1 -> model digits/1', why: expect.stringMatching(/no run/)})
  expect(whyText(found)).not.toContain('Everything was hashed again')
})

test('an image that nobody has is named, and one that is no digest', async () => {
  const image = `sha256:${'a'.repeat(64)}`
  const other = world.run('imaged-abcde', {image})
  world.serve(other)
  expect((await why()).broken).toBeNull()
  world.badImage = 'none of gpu1 has it any more'
  expect((await why()).broken?.why).toMatch(/none of gpu1/)
  world.serve(world.run('named-abcde', {image: 'ubuntu:latest'}))
  expect((await why()).broken?.why).toMatch(/a name, and not a digest/)
})

test('parents are walked, and a loop of them ends', async () => {
  const child = world.run('child-abcde', {
    origin: {
      version: '1',
      machine: 'm',
      rack: 'r',
      arguments: [],
      parents: [{kind: 'run', name: 'digits-abcde', digest: run.tags['flexrack.record'] as string}],
    },
  })
  world.serve(child)
  expect((await why()).broken).toBeNull()
  expect(whyText(await why())).toContain('run digits-abcde')
  const parents = [{kind: 'run', name: 'child-abcde'}]
  world.keep(run, {...world.record(run), origin: {version: '1', machine: 'm', rack: 'r', arguments: [], parents}})
  expect((await why()).broken?.why).toMatch(/its record was/)
  world.keep(child, {
    ...world.record(child),
    origin: {version: '1', machine: 'm', rack: 'r', arguments: [], parents: [{kind: 'run', name: 'digits-abcde'}]},
  })
  world.serve(child)
  expect((await why()).broken).toMatchObject({
    arrow: 'run digits-abcde -> parent child-abcde',
    why: expect.stringMatching(/a loop/) as string,
  })
})

test('parents that double with every run are looked at a bounded number of times', async () => {
  const ways = (name: string) => Array.from({length: 3}, () => ({kind: 'run' as const, name}))
  const all = Array.from({length: 20}, (_, at) => {
    const origin = {version: '1', machine: 'm', rack: 'r', arguments: [], parents: ways(`run-${at + 1}`)}
    return world.run(`run-${at}`, {origin})
  })
  world.serve(all[0]!)
  const evidence = world.evidence()
  let asked = 0
  const counted = {...evidence, run: (name: string) => (asked++, evidence.run(name))}
  const found = await walk('digits', {endpoint: 'digits'}, {evidence: counted, verify: false, signed: false})
  expect(asked).toBeLessThan(300)
  expect(whyText(found as Why)).toMatch(/more than 256 runs lie before/)
})

test('a record that is nested deeply, is huge or is none is told, and not read', async () => {
  for (const [content, because] of [
    ['['.repeat(100_000), /nested/],
    [' '.repeat(5 << 20), /more than 4194304 bytes/],
    ['{"run":1}', /whose it is/],
    [JSON.stringify({...world.record(run), run: '../../x'}), /no name of one/],
    [JSON.stringify({...world.record(run), nodes: [null]}), /record.nodes\[0\] is not as/],
    [JSON.stringify({...world.record(run), started: 1e300}), /record.started is not as/],
    [JSON.stringify({...world.record(run), seeds: {seed: 3}}), /record.seeds.seed is not as/],
    [JSON.stringify({...world.record(run), data: [{name: 'pets', digest: 4}]}), /record.data\[0\].digest is not as/],
    ['nothing', /no JSON/],
  ] as const) {
    artifact('record.json', content)
    expect((await why()).broken?.why).toMatch(because)
  }
})

test('control characters and line breaks of a name make no line of their own', async () => {
  world.serve(world.run('digits-abcde', {command: ['train.py', 'a\nrun forged-run\u001b[2J']}))
  const text = whyText(await why())
  expect(text.split('\n').some((line) => /^\W*run forged/.test(line))).toBe(false)
})

test('without --verify nothing is hashed, and what is plainly wrong is told all the same', async () => {
  artifact('environment.txt', 'torch==2.1\n')
  expect(await why(false)).toMatchObject({verified: false, broken: null})
  run.tags['flexrack.record'] = sha256('x')
  expect((await why(false)).broken?.why).toMatch(/one was changed/)
})

test('what a word may mean', () => {
  expect(meanings('digits/3')).toEqual([{model: 'digits/3', version: undefined}])
  expect(meanings('run/digits-abcde')).toEqual([{run: 'digits-abcde'}])
  expect(meanings('endpoint/digits')).toEqual([{endpoint: 'digits'}])
  expect(meanings('digits')).toHaveLength(3)
})

test('what is signed is what the registry says, by somebody who is allowed to', async () => {
  expect((await why(true, true)).broken).toMatchObject({why: 'nobody has signed it'})
  const good = {
    model: 'digits/1',
    path: 'model.onnx',
    files: new Map([['model.onnx', sha256('model')]]),
    record: run.tags['flexrack.record'] as string,
    keys: ['SHA256:x'],
    signer: 'ada@lab',
  }
  world.said = good
  expect((await why(true, true)).broken).toBeNull()
  for (const [change, because] of [
    [{signer: null}, /no allowed signer/],
    [{model: 'other/1'}, /what is signed is other/],
    [{record: sha256('x')}, /the registry names/],
    [{files: new Map([['model.onnx', sha256('x')]])}, /the registry names/],
  ] as const) {
    world.said = {...good, ...change}
    expect((await why(true, true)).broken).toMatchObject({
      arrow: expect.stringMatching(/^model digits\/1 -> signature/) as string,
      why: expect.stringMatching(because) as string,
    })
  }
})
