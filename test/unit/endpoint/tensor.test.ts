import {expect, test} from 'vitest'
import {buildRequest} from '../../../src/lib/endpoint/tensor-request.ts'
import {smokeRequest, type ModelMetadata} from '../../../src/lib/endpoint/tensor.ts'

const image: ModelMetadata = {
  name: 'digits',
  inputs: [{name: 'image', datatype: 'FP32', shape: [-1, 1, 2, 2]}],
  outputs: [],
}
const two: ModelMetadata = {
  name: 'two',
  inputs: [
    {name: 'a', datatype: 'INT64', shape: [-1]},
    {name: 'b', datatype: 'BYTES', shape: [-1]},
  ],
  outputs: [],
}

const build = (value: unknown, metadata = image): unknown =>
  buildRequest(
    {file: '--data', bytes: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))},
    metadata,
  )

test("nested lists become a tensor of the model's own name and type", () => {
  expect(
    build([
      [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    ]),
  ).toEqual({inputs: [{name: 'image', datatype: 'FP32', shape: [1, 1, 2, 2], data: [1, 2, 3, 4]}]})
})

test('one item is taken as a batch of one', () => {
  expect(
    build([
      [
        [1, 2],
        [3, 4],
      ],
    ]),
  ).toMatchObject({inputs: [{shape: [1, 1, 2, 2]}]})
})

test('an object gives a list for each input', () => {
  expect(build({a: [1, 2], b: ['x', 'y']}, two)).toEqual({
    inputs: [
      {name: 'a', datatype: 'INT64', shape: [2], data: [1, 2]},
      {name: 'b', datatype: 'BYTES', shape: [2], data: ['x', 'y']},
    ],
  })
})

test('a whole request is sent as it is', () => {
  const request = {
    id: '7',
    inputs: [
      {
        name: 'image',
        shape: [1, 1, 2, 2],
        datatype: 'FP32',
        data: [
          [1, 2],
          [3, 4],
        ],
      },
    ],
    outputs: [{name: 'scores'}],
  }
  expect(build(request)).toEqual(request)
})

test.each([
  ['a shape that does not fit', [[1, 2, 3]], /has shape \(1, 3\), but image takes \(\?, 1, 2, 2\)/],
  ['ragged lists', [[1, 2], [3]], /\[1\] is \(1\), \[0\] is \(2\)/],
  [
    'text where numbers are wanted',
    [
      [
        [
          ['a', 2],
          [3, 4],
        ],
      ],
    ],
    /value 1 of the input is "a"/,
  ],
  ['an unknown input', {imaeg: [1]}, /no input imaeg; did you mean image/],
  [
    'a request of a wrong shape',
    {inputs: [{name: 'image', shape: [1, 4], datatype: 'FP32', data: [1, 2, 3, 4]}]},
    /has shape \(1, 4\)/,
  ],
  ['text that is no JSON', '[[1,', /--data is not JSON/],
  ['a bare number', 3, /neither a request, nor lists/],
])('%s is refused with a sentence', (_, value, message) => {
  expect(() => build(value)).toThrow(message)
})

test('one list for a model with several inputs is refused', () => {
  expect(() => build([1, 2], two)).toThrow(/takes 2 inputs: a, b/)
})

test('the request for a try is the smallest, and certain only where nothing but the batch varies', () => {
  expect(smokeRequest(image)).toEqual({
    request: {inputs: [{name: 'image', datatype: 'FP32', shape: [1, 1, 2, 2], data: [0, 0, 0, 0]}]},
    certain: true,
  })
  expect(smokeRequest({...image, inputs: [{name: 'x', datatype: 'FP32', shape: [-1, -1]}]}).certain).toBe(false)
  expect(smokeRequest(two)).toMatchObject({request: {inputs: [{data: [0]}, {data: ['']}]}, certain: false})
})
