import {expect, test} from 'vitest'
import {buildRequest} from '../../../src/lib/endpoint/tensor-request.ts'
import {parseNpy} from '../../../src/lib/endpoint/npy.ts'

/** A .npy file as numpy.lib.format describes it. */
function npy(descr: string, shape: string, data: Buffer, {fortran = 'False', version = 1} = {}): Buffer {
  const head = `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`
  const prefix = version === 1 ? 10 : 12
  const header = `${head.padEnd(64 - ((prefix + 1) % 64) + Math.ceil(head.length / 64) * 64 - 64)}\n`
  const length = Buffer.alloc(version === 1 ? 2 : 4)
  if (version === 1) length.writeUInt16LE(header.length)
  else length.writeUInt32LE(header.length)
  return Buffer.concat([
    Buffer.from('\x93NUMPY', 'latin1'),
    Buffer.from([version, 0]),
    length,
    Buffer.from(header, 'latin1'),
    data,
  ])
}

const floats = (values: number[]): Buffer => Buffer.from(new Float32Array(values).buffer)

test('float32 in row-major order is read as it is', () => {
  expect(parseNpy(npy('<f4', '(2, 2)', floats([1, 2, 3, 4])), 'a.npy')).toEqual({
    datatype: 'FP32',
    shape: [2, 2],
    data: [1, 2, 3, 4],
  })
})

test('column-major order is turned', () => {
  expect(parseNpy(npy('<f4', '(2, 3)', floats([1, 4, 2, 5, 3, 6]), {fortran: 'True'}), 'a.npy').data).toEqual([
    1, 2, 3, 4, 5, 6,
  ])
})

test.each([
  ['>i2', Buffer.from([0x01, 0x02]), 'INT16', 258],
  ['<i8', Buffer.from(new BigInt64Array([-5n]).buffer), 'INT64', -5],
  ['<f8', Buffer.from(new Float64Array([0.1]).buffer), 'FP64', 0.1],
  ['<f2', Buffer.from([0x00, 0x3e]), 'FP16', 1.5],
  ['|u1', Buffer.from([200]), 'UINT8', 200],
  ['|b1', Buffer.from([1]), 'BOOL', true],
])('%s is read', (descr, data, datatype, value) => {
  expect(parseNpy(npy(descr, '(1,)', data), 'a.npy')).toEqual({datatype, shape: [1], data: [value]})
})

test('format version 2 and an array without dimensions are read', () => {
  expect(parseNpy(npy('<f4', '()', floats([7]), {version: 2}), 'a.npy')).toEqual({
    datatype: 'FP32',
    shape: [],
    data: [7],
  })
})

test.each([
  ['something else', Buffer.from('PK\x03\x04 not an array'), /does not begin as one/],
  ['an object array', npy('|O', '(1,)', Buffer.alloc(8)), /structured and object arrays/],
  ['a complex array', npy('<c8', '(1,)', Buffer.alloc(8)), /type c8 has no form/],
  ['a file that was cut off', npy('<f4', '(4,)', floats([1, 2])), /ends after 8 of 16 bytes/],
  ['an integer that JSON cannot hold', npy('<u8', '(1,)', Buffer.alloc(8, 0xff)), /too large an integer/],
])('%s is refused', (_, bytes, message) => {
  expect(() => parseNpy(bytes, 'a.npy')).toThrow(message)
})

const model = {name: 'm', inputs: [{name: 'image', datatype: 'FP32', shape: [-1, 2]}], outputs: []}

test('an array goes to the only input, narrowed to its type', () => {
  const bytes = npy('<f8', '(1, 2)', Buffer.from(new Float64Array([1, 2]).buffer))
  expect(buildRequest({file: 'a.npy', bytes}, model)).toEqual({
    inputs: [{name: 'image', datatype: 'FP32', shape: [1, 2], data: [1, 2]}],
  })
})

test('an array of another kind is refused, with what to do', () => {
  const ints = {...model, inputs: [{name: 'ids', datatype: 'INT64', shape: [-1, 2]}]}
  expect(() => buildRequest({file: 'a.npy', bytes: npy('<f4', '(1, 2)', floats([1, 2]))}, ints)).toThrow(
    /is FP32, but ids takes INT64/,
  )
  expect(() => buildRequest({file: 'a.npy', bytes: npy('<f4', '(1, 2)', floats([1, NaN]))}, model)).toThrow(
    /value 2 of the array is NaN/,
  )
})
