import {CliError} from '../base/index.ts'

/** An array of a .npy file, in row-major order. */
export interface NpyArray {
  /** The protocol's name: FP32, INT64, … */
  datatype: string
  shape: number[]
  data: (number | boolean)[]
}

type Reader = (view: DataView, offset: number, little: boolean) => number | boolean

const TYPES: Record<string, [datatype: string, bytes: number, read: Reader]> = {
  f2: ['FP16', 2, (view, at, little) => halfToNumber(view.getUint16(at, little))],
  f4: ['FP32', 4, (view, at, little) => view.getFloat32(at, little)],
  f8: ['FP64', 8, (view, at, little) => view.getFloat64(at, little)],
  i1: ['INT8', 1, (view, at) => view.getInt8(at)],
  i2: ['INT16', 2, (view, at, little) => view.getInt16(at, little)],
  i4: ['INT32', 4, (view, at, little) => view.getInt32(at, little)],
  i8: ['INT64', 8, (view, at, little) => exact(view.getBigInt64(at, little))],
  u1: ['UINT8', 1, (view, at) => view.getUint8(at)],
  u2: ['UINT16', 2, (view, at, little) => view.getUint16(at, little)],
  u4: ['UINT32', 4, (view, at, little) => view.getUint32(at, little)],
  u8: ['UINT64', 8, (view, at, little) => exact(view.getBigUint64(at, little))],
  b1: ['BOOL', 1, (view, at) => view.getUint8(at) !== 0],
}

/**
 * Reads the bytes of a .npy file, format versions 1 to 3 (numpy.lib.format): magic, version, header length, a Python
 * literal with descr, fortran_order and shape, then the data. USAGE for anything else.
 */
export function parseNpy(bytes: Buffer, file: string): NpyArray {
  const bad = (why: string): CliError => new CliError('USAGE', `${file} is not a .npy file that can be sent: ${why}`)
  if (bytes.length < 12 || bytes.toString('latin1', 0, 6) !== '\x93NUMPY') throw bad('it does not begin as one')
  const long = (bytes[6] ?? 0) >= 2
  const headerLength = long ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8)
  const start = (long ? 12 : 10) + headerLength
  const header = bytes.toString('latin1', long ? 12 : 10, start)
  const descr = /'descr':\s*'([<>|=])([a-z]\d+)'/.exec(header)
  const shape = /'shape':\s*\(([\d,\sL]*)\)/.exec(header)?.[1]
  const type = TYPES[descr?.[2] ?? '']
  if (!descr || shape === undefined)
    throw bad('its header cannot be read; structured and object arrays have no form in the protocol')
  if (!type) throw bad(`its type ${descr[2]} has no form in the protocol`)
  const sizes = shape
    .split(',')
    .map((part) => part.trim().replace(/L$/, ''))
    .filter((part) => part !== '')
    .map(Number)
  const count = sizes.reduce((product, size) => product * size, 1)
  const [datatype, width, read] = type
  if (bytes.length - start < count * width)
    throw bad(`it ends after ${bytes.length - start} of ${count * width} bytes of data`)
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, count * width)
  const little = descr[1] !== '>'
  const data = Array.from({length: count}, (_, index) => read(view, index * width, little))
  return {datatype, shape: sizes, data: /'fortran_order':\s*True/.test(header) ? rowMajor(data, sizes) : data}
}

/** Column-major to row-major. */
function rowMajor<T>(data: T[], shape: number[]): T[] {
  const strides = shape.map((_, at) => shape.slice(0, at).reduce((product, size) => product * size, 1))
  const place = shape.map(() => 0)
  return data.map(() => {
    const value = data[place.reduce((sum, index, at) => sum + index * (strides[at] ?? 0), 0)] as T
    for (let at = shape.length - 1; at >= 0; at--) {
      place[at] = (place[at] ?? 0) + 1
      if ((place[at] ?? 0) < (shape[at] ?? 0)) break
      place[at] = 0
    }
    return value
  })
}

/** JSON has no 64-bit integers: what a double cannot hold exactly is refused rather than changed. */
function exact(value: bigint): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new CliError('USAGE', `${value} is too large an integer to be sent as JSON`)
  return number
}

/** IEEE 754 binary16. */
function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}
