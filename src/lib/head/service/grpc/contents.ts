import {bytesOf, fieldsOf, Malformed, readVarint, varintOf, type Field} from './protobuf.ts'

/** InferTensorContents: the tensor's elements as numbers of protobuf, instead of raw. */

/** Bytes of an element, by datatype; those that are written as varints. */
const SIZES: Record<string, number> = {
  BOOL: 1,
  INT8: 1,
  INT16: 2,
  INT32: 4,
  INT64: 8,
  UINT8: 1,
  UINT16: 2,
  UINT32: 4,
  UINT64: 8,
}
/** Which datatypes each field carries (inference.proto). */
const FIELDS: Record<number, string[]> = {
  1: ['BOOL'],
  2: ['INT8', 'INT16', 'INT32'],
  3: ['INT64'],
  4: ['UINT8', 'UINT16', 'UINT32'],
  5: ['UINT64'],
  6: ['FP32'],
  7: ['FP64'],
  8: ['BYTES'],
}
/** Elements that come one a field are read, but no client packs them so where there are many. */
const MOST_PARTS = 100_000

/** The raw form of a tensor's contents. `take`: told of bytes before they are made. Throws Malformed. */
export function rawOf(contents: Buffer, datatype: string, take: (bytes: number) => void): Buffer {
  const parts: Buffer[] = []
  for (const field of fieldsOf(contents)) {
    const kinds = FIELDS[field.number]
    if (!kinds) continue
    if (!kinds.includes(datatype)) throw new Malformed(`contents of ${kinds.join(', ')} are given for a ${datatype}`)
    if (parts.length >= MOST_PARTS) throw new Malformed('the contents are not packed')
    parts.push(partOf(field, datatype, take))
  }
  const [only] = parts
  if (only && parts.length === 1) return only
  take(parts.reduce((sum, part) => sum + part.length, 0))
  return Buffer.concat(parts)
}

function partOf(field: Field, datatype: string, take: (bytes: number) => void): Buffer {
  if (datatype === 'BYTES') {
    const bytes = bytesOf(field)
    take(bytes.length + 4)
    const size = Buffer.alloc(4)
    size.writeUInt32LE(bytes.length)
    return Buffer.concat([size, bytes])
  }
  const size = SIZES[datatype]
  if (size === undefined) {
    const bytes = bytesOf(field) // packed or not, floating-point numbers are their bytes
    if (bytes.length % (datatype === 'FP32' ? 4 : 8) !== 0) throw new Malformed('a number has no end')
    return bytes
  }
  const packed = typeof field.value === 'bigint' ? varintOf(field.value) : field.value
  let count = 0
  for (const byte of packed) if (byte < 0x80) count++
  take(count * size)
  return unpack(packed, Buffer.alloc(count * size), size, datatype)
}

function unpack(packed: Buffer, out: Buffer, size: number, datatype: string): Buffer {
  const bits = 8 * size
  for (let at = 0, to = 0; at < packed.length; to += size) {
    const [value, next] = readVarint(packed, at)
    const fits = datatype.startsWith('INT')
      ? BigInt.asIntN(64, value) === BigInt.asIntN(bits, value)
      : value < (datatype === 'BOOL' ? 2n : 1n << BigInt(bits))
    if (!fits) throw new Malformed(`a number does not fit a ${datatype}`)
    if (size === 8) out.writeBigUInt64LE(value, to)
    else out.writeUIntLE(Number(BigInt.asUintN(bits, value)), to, size)
    at = next
  }
  return out
}
