import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {expect, test} from 'vitest'
import {readTopics} from '../../../scripts/protocol/schema.ts'
import {pythonOf} from '../../../scripts/protocol/python.ts'
import {typescriptOf} from '../../../scripts/protocol/typescript.ts'
import {SCHEMAS} from '../../../src/lib/base/file-schemas.ts'
import {patternOf, unknownFiles} from '../../support/kept-files.ts'
import {Messages} from '../../support/messages.ts'

const root = resolve(import.meta.dirname, '../../..')
const held = {gpus: [], slots: 1, exclusive: true}
const taken = {granted: true, fence: 7, since: 1.5, identity: 'x', shared: true, gpus: [], holders: []}

test('every verb of the node program is in the protocol, and no other', () => {
  const known = [...readTopics(join(root, 'protocol')).values()]
    .flatMap((topic) => Object.keys(topic.verbs ?? {}))
    .sort()
  const reported = [
    ...readFileSync(join(root, 'node/flexrack_node/verbs/__init__.py'), 'utf8').matchAll(/^ {4}"([\w.]+)":/gm),
  ]
    .map((match) => match[1] as string)
    .sort()
  expect(known).toEqual(reported)
})

test('a message that has a field more, one less or one of another type is refused, with the field', () => {
  const messages = new Messages()
  expect(() => messages.check('reservation.take', 'result', taken)).not.toThrow()
  expect(() => messages.check('reservation.take', 'result', {...taken, clean: true})).toThrow(/"clean"/)
  expect(() => messages.check('reservation.take', 'result', {...taken, fence: '7'})).toThrow(/\/fence/)
  const {since: _since, ...less} = taken
  expect(() => messages.check('reservation.take', 'result', less)).toThrow(/'since'/)
  expect(() => messages.check('service.logs', 'events', {event: 'news'})).toThrow(/no such event/)
  expect(() => messages.checkError('reservation.take', {code: 'GPU_FAILED'})).toThrow(/GPU_FAILED/)
})

test('what an object has from another one belongs to it', () => {
  const reservation = {
    lease: 'a',
    state: 'running',
    user: 'u',
    owner: 'o',
    project: null,
    node: 'n',
    nodes: [],
    since: 1,
    over: null,
    here: true,
    wants: held,
    silent: 0,
    ends_in: null,
  }
  const messages = new Messages()
  expect(() =>
    messages.check('reservation.release', 'result', {
      released: [reservation],
      left: [{...reservation, why: 'running'}],
    }),
  ).not.toThrow()
  expect(() => messages.check('reservation.release', 'result', {released: [], left: [reservation]})).toThrow(/'why'/)
})

test('both languages get the same: optional fields, names of others, words of Python', () => {
  const topic = {
    $id: 'x.json',
    description: 'X.',
    $defs: {
      One: {
        description: 'A thing.',
        type: 'object',
        required: ['name'],
        properties: {name: {type: 'string'}, from: {type: ['integer', 'null']}, kind: {enum: ['a', 'b', null]}},
      },
      Two: {
        type: 'object',
        allOf: [{$ref: '#/$defs/One'}],
        required: ['pair'],
        properties: {
          pair: {type: 'array', prefixItems: [{type: 'string'}, {type: 'integer'}], items: false as const, minItems: 2},
        },
      },
    },
    verbs: {
      'x.do': {
        description: 'Does it.',
        input: {type: 'null'},
        result: {type: 'array', items: {anyOf: [{$ref: '#/$defs/One'}, {type: 'null'}]}},
      },
    },
  }
  expect(typescriptOf('x', topic)).toBe(`// X. Generated from protocol/x.json by \`npm run protocol\`.

/** A thing. */
export interface One {
  name: string
  from?: number | null
  kind?: 'a' | 'b' | null
}

export interface Two extends One {
  pair: [string, number]
}

export interface XVerbs {
  /** Does it. */
  'x.do': {input: null; result: (One | null)[]; event: never}
}
`)
  expect(pythonOf('x', topic)).toContain(`
_One = TypedDict("_One", {"name": "str"})
_OneMay = TypedDict("_OneMay", {"from": "Optional[int]", "kind": "Optional[Literal['a', 'b']]"}, total=False)


class One(_One, _OneMay):
    pass


class Two(One):
    pair: List[Union[str, int]]
`)
})

test('a file that stays has the number of its shape, or stands among those that have none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flexrack-kept-'))
  try {
    mkdirSync(join(folder, 'runs/digits-1/attempts/1'), {recursive: true})
    const put = (name: string, text: string): void => writeFileSync(join(folder, name), text)
    put('machine', 'a b\n\n\n')
    put('runs/digits-1/spec.json', JSON.stringify({schema: SCHEMAS['run.spec']}))
    put('runs/digits-1/attempts/1/rank-0.log', 'hello')
    put('usage.jsonl', '{"schema":1}\n{"schema":1}\n')
    expect(unknownFiles('NODE', folder)).toEqual([])
    put('runs/digits-1/state.json', '{"status":"running"}')
    put('usage.jsonl', '{"schema":1}\n{"schema":9}\n')
    put('runs/digits-1/else.json', '{}')
    expect(unknownFiles('NODE', folder).toSorted()).toEqual([
      `${folder}/runs/digits-1/else.json: not in protocol/`,
      `${folder}/runs/digits-1/state.json: is to have schema ${SCHEMAS['run.state']}: {"status":"running"}`,
      `${folder}/usage.jsonl: is to have schema 1: {"schema":9}`,
    ])
  } finally {
    rmSync(folder, {recursive: true})
  }
})

test('paths of files stand for names', () => {
  for (const [path, yes, no] of [
    [
      'NODE/runs/RUN/attempts/N/rank-N.json',
      'NODE/runs/a-1/attempts/2/rank-0.json',
      'NODE/runs/a-1/b/attempts/2/rank-0.json',
    ],
    ['NODE/runs/**/*.log', 'NODE/runs/a-1/members/0/supervisor.log', 'NODE/services/x.log'],
    ['NODE/head/mlflow.db*', 'NODE/head/mlflow.db-wal', 'NODE/head/mlflow/db'],
  ] as const)
    expect([patternOf(path).test(yes), patternOf(path).test(no)]).toEqual([true, false])
})
