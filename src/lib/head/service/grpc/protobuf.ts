/** The little of protobuf's encoding (https://protobuf.dev/programming-guides/encoding/) that the messages here need. */

/** A message that cannot be read. */
export class Malformed extends Error {}

export interface Field {
  number: number
  /** Varints; fixed numbers are their bytes. */
  value: bigint | Buffer
}

const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const FIXED32 = 5

/** The fields of a message in their order. Throws Malformed. */
export function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0
  const varint = (): bigint => {
    const [value, next] = readVarint(message, at)
    at = next
    return value
  }
  const bytes = (size: number): Buffer => {
    if (at + size > message.length) throw new Malformed('a field is longer than its message')
    at += size
    return message.subarray(at - size, at)
  }
  while (at < message.length) {
    const tag = Number(varint() & 0xffff_ffffn)
    const number = tag >>> 3
    const kind = tag & 7
    if (number === 0) throw new Malformed('a field has no number')
    if (kind === VARINT) yield {number, value: varint()}
    else if (kind === BYTES) yield {number, value: bytes(Number(varint()))}
    else if (kind === FIXED32 || kind === FIXED64) yield {number, value: bytes(kind === FIXED32 ? 4 : 8)}
    else throw new Malformed(`field ${number} has the unknown kind ${kind}`)
  }
}

/** The number at a place, and where it ends. Throws Malformed. */
export function readVarint(from: Buffer, at: number): [value: bigint, next: number] {
  let low = 0
  let high = 0n
  for (let index = 0; index < 10; index++) {
    const byte = from[at + index]
    if (byte === undefined) break
    // Up to 28 bits a number of the processor's is enough, which is nearly all.
    if (index < 4) low |= (byte & 0x7f) << (7 * index)
    else high |= BigInt(byte & 0x7f) << BigInt(7 * index)
    if (byte < 0x80) return [BigInt.asUintN(64, high | BigInt(low)), at + index + 1]
  }
  throw new Malformed('a number has no end')
}

export function bytesOf({number, value}: Field): Buffer {
  if (typeof value === 'bigint') throw new Malformed(`field ${number} is a number`)
  return value
}

export function numberOf({number, value}: Field): bigint {
  if (typeof value !== 'bigint') throw new Malformed(`field ${number} is no number`)
  return value
}

const UTF8 = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true})

export function textOf(field: Field): string {
  try {
    return UTF8.decode(bytesOf(field))
  } catch (error) {
    if (error instanceof Malformed) throw error
    throw new Malformed(`field ${field.number} is no UTF-8`, {cause: error})
  }
}

/** A field of bytes, text or a message; empty ones are left out, as proto3 has it, unless they are `kept`. */
export function writeBytes(number: number, value: Buffer | string, kept = false): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  if (bytes.length === 0 && !kept) return Buffer.alloc(0)
  return Buffer.concat([writeHead(number, bytes.length), bytes])
}

/** What stands before the bytes of a field that has so many. */
export function writeHead(number: number, size: number): Buffer {
  return Buffer.concat([varintOf(BigInt((number << 3) | BYTES)), varintOf(BigInt(size))])
}

export function writeNumber(number: number, value: bigint, kept = false): Buffer {
  if (value === 0n && !kept) return Buffer.alloc(0)
  return Buffer.concat([varintOf(BigInt((number << 3) | VARINT)), varintOf(value)])
}

export function writeDouble(number: number, value: number): Buffer {
  const fixed = Buffer.alloc(8)
  fixed.writeDoubleLE(value)
  return Buffer.concat([varintOf(BigInt((number << 3) | FIXED64)), fixed])
}

export function varintOf(value: bigint): Buffer {
  const out: number[] = []
  for (let rest = BigInt.asUintN(64, value); ; rest >>= 7n) {
    if (rest < 0x80n) return Buffer.from([...out, Number(rest)])
    out.push(Number(rest & 0x7fn) | 0x80)
  }
}
