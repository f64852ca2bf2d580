import {expect, test} from 'vitest'
import {readInfer, writeInfer} from '../../../../../src/lib/head/service/grpc/messages.ts'
import {
  fieldsOf,
  Malformed,
  varintOf,
  writeBytes,
  writeDouble,
  writeNumber,
} from '../../../../../src/lib/head/service/grpc/protobuf.ts'

const packed = (...values: bigint[]): Buffer => Buffer.concat(values.map(varintOf))

/** ModelInferRequest with one tensor. */
function request(datatype: string, shape: bigint[], contents: Buffer | undefined, ...more: Buffer[]): Buffer {
  const input = [writeBytes(1, 'x'), writeBytes(2, datatype), writeBytes(3, packed(...shape))]
  if (contents) input.push(writeBytes(5, contents, true))
  return Buffer.concat([writeBytes(1, 'm'), writeBytes(5, Buffer.concat(input)), ...more])
}

const tensorOf = (datatype: string, contents: Buffer): Buffer =>
  readInfer(request(datatype, [2n], contents), () => {}).tensors[0]!

test('numbers of a message become the bytes that they are over HTTP', () => {
  const floats = Buffer.from(new Float32Array([1.5, -3]).buffer)
  const cases: [string, Buffer, Buffer][] = [
    ['BOOL', writeBytes(1, packed(1n, 0n)), Buffer.from([1, 0])],
    ['INT8', writeBytes(2, packed(-1n, 127n)), Buffer.from([255, 127])],
    ['INT16', writeBytes(2, packed(-2n, 300n)), Buffer.from(new Int16Array([-2, 300]).buffer)],
    ['INT32', writeBytes(2, packed(-3n, 70_000n)), Buffer.from(new Int32Array([-3, 70_000]).buffer)],
    ['INT64', writeBytes(3, packed(-(2n ** 62n), 5n)), Buffer.from(new BigInt64Array([-(2n ** 62n), 5n]).buffer)],
    ['UINT32', writeBytes(4, packed(2n ** 32n - 1n, 0n)), Buffer.from(new Uint32Array([2 ** 32 - 1, 0]).buffer)],
    ['UINT64', writeBytes(5, packed(2n ** 64n - 1n, 1n)), Buffer.from(new BigUint64Array([2n ** 64n - 1n, 1n]).buffer)],
    ['FP32', writeBytes(6, floats), floats],
    [
      'BYTES',
      Buffer.concat([writeBytes(8, 'ab'), writeBytes(8, '', true)]),
      Buffer.from([2, 0, 0, 0, 97, 98, 0, 0, 0, 0]),
    ],
  ]
  for (const [datatype, contents, raw] of cases)
    expect([datatype, tensorOf(datatype, contents)]).toEqual([datatype, raw])
  const one = Buffer.concat([writeNumber(3, 7n), writeNumber(3, -1n)])
  expect(tensorOf('INT64', one), 'not packed').toEqual(Buffer.from(new BigInt64Array([7n, -1n]).buffer))
})

test('what does not fit is refused', () => {
  const bad: [string, Buffer][] = [
    ['INT8', writeBytes(2, packed(128n))],
    ['UINT8', writeBytes(4, packed(256n))],
    ['BOOL', writeBytes(1, packed(2n))],
    ['FP32', writeBytes(6, Buffer.alloc(5))],
    ['FP16', writeBytes(6, Buffer.alloc(4))],
    ['INT64', writeBytes(2, packed(1n))],
    ['INT64', writeBytes(3, Buffer.from([0xff]))],
  ]
  for (const [datatype, contents] of bad) expect(() => tensorOf(datatype, contents), datatype).toThrow(Malformed)
  const raw = writeBytes(7, Buffer.alloc(4), true)
  expect(() => readInfer(request('FP32', [1n], writeBytes(6, Buffer.alloc(4)), raw), () => {})).toThrow(
    /0 of 1 inputs have no contents, for 1 raw/,
  )
  expect(() => readInfer(request('FP32', [1n], undefined, raw, raw), () => {})).toThrow(
    /1 of 1 inputs have no contents, for 2 raw/,
  )
  expect(() => readInfer(request('FP32', [2n ** 60n], undefined, raw), () => {})).toThrow(/too large/)
  expect(() =>
    readInfer(
      request(
        'FP32',
        Array.from({length: 65}, () => 1n),
        undefined,
      ),
      () => {},
    ),
  ).toThrow(/dimensions/)
  const many = Array.from({length: 1001}, () => writeBytes(7, '', true))
  expect(() => readInfer(request('FP32', [1n], undefined, ...many), () => {})).toThrow(/more than 1000/)
  for (let size = 0; size < 200; size++) {
    const noise = Buffer.from(Array.from({length: size}, (_, index) => (index * 73 + size * 31) % 256))
    try {
      readInfer(noise, () => {})
    } catch (error) {
      expect(error).toBeInstanceOf(Malformed)
    }
  }
})

test('raw bytes go to the inputs that have no contents', () => {
  const input = (name: string, contents?: Buffer): Buffer =>
    writeBytes(
      5,
      Buffer.concat([writeBytes(1, name), writeBytes(2, 'INT8'), ...(contents ? [writeBytes(5, contents)] : [])]),
    )
  const numbers = writeBytes(2, packed(5n))
  const message = Buffer.concat([input('a'), input('b', numbers), input('c'), writeBytes(7, 'x'), writeBytes(7, 'z')])
  expect(Buffer.concat(readInfer(message, () => {}).tensors)).toEqual(Buffer.from([120, 5, 122]))
})

test('room is asked for before numbers are made larger', () => {
  const contents = writeBytes(3, Buffer.alloc(1000))
  const take = (bytes: number): void => {
    throw new Error(`no room for ${bytes}`)
  }
  expect(() => readInfer(request('INT64', [1000n], contents), take)).toThrow('no room for 8000')
})

test('parameters, and what is wanted, stand in the JSON', () => {
  const parameter = (number: number, key: string, value: Buffer): Buffer =>
    writeBytes(number, Buffer.concat([writeBytes(1, key), writeBytes(2, value, true)]))
  const output = Buffer.concat([writeBytes(1, 'y'), parameter(2, 'classification', writeNumber(2, 3n))])
  const {head, model, tensors} = readInfer(
    request(
      'FP32',
      [1n],
      undefined,
      writeBytes(3, '7'),
      parameter(4, 'priority', writeNumber(5, 2n)),
      parameter(4, 'half', writeDouble(4, 0.5)),
      parameter(4, '__proto__', writeBytes(3, 'x')),
      writeBytes(6, output),
      writeBytes(7, Buffer.alloc(4)),
    ),
    () => {},
  )
  expect([model, tensors.length]).toEqual(['m', 1])
  expect(head.toString()).toBe(
    '{"id":"7","parameters":{"priority":2,"half":0.5,"__proto__":"x"},"inputs":[{"name":"x","datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4}}],"outputs":[{"name":"y","parameters":{"classification":3,"binary_data":true}}]}',
  )
})

test('an answer is told as it is, or not at all', () => {
  const head = Buffer.from(
    JSON.stringify({
      model_name: 'm',
      id: '7',
      outputs: [
        {name: 'a', datatype: 'FP32', shape: [1], parameters: {binary_data_size: 4}},
        {name: 'b', datatype: 'FP32', shape: [0], parameters: {binary_data_size: 0}},
      ],
    }),
  )
  const tensor = Buffer.from([1, 2, 3, 4])
  const fields = [...fieldsOf(Buffer.concat(writeInfer(Buffer.concat([head, tensor]), head.length)))]
  expect(fields.map(({number}) => number)).toEqual([1, 3, 5, 5, 6, 6])
  expect(fields.slice(4).map(({value}) => value)).toEqual([tensor, Buffer.alloc(0)])
  expect(() => writeInfer(head, head.length)).toThrow(/not in binary/)
  expect(() => writeInfer(head, head.length + 1)).toThrow(/shorter/)
  const json = Buffer.from(JSON.stringify({model_name: 'm', outputs: [{name: 'a', shape: [1], data: [1]}]}))
  expect(() => writeInfer(json, undefined)).toThrow(/not in binary/)
})
