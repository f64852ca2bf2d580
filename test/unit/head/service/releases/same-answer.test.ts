import {expect, test} from 'vitest'
import {compareAnswers, type Comparison, type Kept} from '../../../../../src/lib/head/service/releases/same-answer.ts'

function kept(body: unknown, status = 200, type = 'application/json'): Kept {
  return {status, type, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))}
}

const infer = (data: unknown[], more: object = {}): object => ({
  ...more,
  outputs: [{name: 'y', shape: [1, data.length], datatype: 'FP32', data}],
})

/** https://platform.openai.com/docs/api-reference/chat/object and responses/object. */
const called = (id: string): object => ({
  choices: [{message: {tool_calls: [{id, type: 'function', function: {name: 'add', arguments: '{}'}}]}}],
  output: [{id: `fc_${id}`, call_id: id, type: 'function_call'}],
})

test.each<[what: string, real: Kept, copy: Kept, says: Comparison]>([
  ['bytes', kept('no JSON'), kept('no JSON'), {result: 'same'}],
  ['numbers that rounding tells apart', kept(infer([0.1, 1e6])), kept(infer([0.1000001, 1_000_001])), {result: 'same'}],
  ['a number', kept(infer([1, 2])), kept(infer([1, 2.1])), {result: 'different', at: 'outputs[0].data[1]'}],
  ['a length', kept(infer([1])), kept(infer([1, 2])), {result: 'different', at: 'outputs[0].shape[1]'}],
  ['a text', kept({choices: ['a']}), kept({choices: ['b']}), {result: 'different', at: 'choices[0]'}],
  ['a type', kept({a: 1}), kept({a: '1'}), {result: 'different', at: 'a'}],
  ['a list for an object', kept({a: []}), kept({a: {}}), {result: 'different', at: 'a'}],
  ['a key', kept({a: 1}), kept({a: 1, b: null}), {result: 'different', at: 'b'}],
  [
    'names of the answer',
    kept(infer([1], {id: 'x'})),
    kept(infer([1], {id: 'y', model_version: '2'})),
    {result: 'same'},
  ],
  [
    'names that engines draw, and times',
    kept({...called('call_1'), timings: {prompt_ms: 1.5}, created_at: 1}),
    kept({...called('call_2'), timings: {prompt_ms: 1.7}, created_at: 2}),
    {result: 'same'},
  ],
  ['a name that the model gives', kept({x: [{id: 'a'}]}), kept({x: [{id: 'b'}]}), {result: 'different', at: 'x[0].id'}],
  ['an error for an answer', kept({}), kept({}, 500), {result: 'failed'}],
  ['an answer for an error', kept({}, 400), kept({}), {result: 'different', at: 'status'}],
  ['two refusals', kept({error: 'a'}, 400), kept({error: 'b'}, 400), {result: 'same'}],
  ['a refusal and a failure', kept({}, 400), kept({}, 500), {result: 'different', at: 'status'}],
  [
    'binary',
    kept('a', 200, 'application/octet-stream'),
    kept('b', 200, 'application/octet-stream'),
    {result: 'uncompared'},
  ],
  ['broken JSON', kept('{'), kept('}'), {result: 'uncompared'}],
  ['what was not kept', {...kept(''), body: undefined}, kept(''), {result: 'uncompared'}],
])('of two answers %s: %#', (_what, real, copy, says) => {
  expect(compareAnswers(real, copy)).toEqual(says)
})
