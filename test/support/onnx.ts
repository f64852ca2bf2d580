/** Tiny ONNX models, written byte by byte (protobuf, onnx.proto3), so that tests need no Python package to make one. */

/** y = x + offset, float32, shape (n, width): the answer tells which model gave it. */
export function addModel(offset: number, width = 4): Buffer {
  const node = message([text(1, 'x'), text(1, 'offset'), text(2, 'y'), text(4, 'Add')])
  const raw = Buffer.alloc(4)
  raw.writeFloatLE(offset)
  const constant = message([integer(1, 1), integer(2, FLOAT), text(8, 'offset'), bytes(9, raw)])
  const graph = message([
    bytes(1, node),
    text(2, 'add'),
    bytes(5, constant),
    bytes(11, tensorInfo('x', [width])),
    bytes(12, tensorInfo('y', [width])),
  ])
  return modelOf(graph)
}

/** For each type an input of its name, which comes back as `<name>_out`; shape (n). Names are the protocol's. */
export function sameModel(): Buffer {
  const names = Object.keys(TYPES)
  const graph = message([
    ...names.map((name) => bytes(1, message([text(1, name), text(2, `${name}_out`), text(4, 'Identity')]))),
    text(2, 'same'),
    ...names.map((name) => bytes(11, tensorInfo(name, [], TYPES[name]))),
    ...names.map((name) => bytes(12, tensorInfo(`${name}_out`, [], TYPES[name]))),
  ])
  return modelOf(graph)
}

/**
 * A small network for digits, as exporters write it, with made-up weights: Conv, Relu, Flatten, MatMul, Add, Softmax.
 * `x` float32 (n, 1, 8, 8) gives `y` (n, 10).
 */
export function digitsModel(): Buffer {
  const node = (kind: string, inputs: string[], output: string): Buffer =>
    bytes(1, message([...inputs.map((name) => text(1, name)), text(2, output), text(4, kind)]))
  const weights = (name: string, shape: number[], seed: number): Buffer => {
    const raw = Buffer.alloc(4 * shape.reduce((all, size) => all * size, 1))
    for (let at = 0; at < raw.length / 4; at++) raw.writeFloatLE(Math.sin(seed + 1.7 * at) / 2, 4 * at)
    return bytes(
      5,
      message([...shape.map((size) => integer(1, size)), integer(2, FLOAT), text(8, name), bytes(9, raw)]),
    )
  }
  const graph = message([
    node('Conv', ['x', 'k'], 'c'),
    node('Relu', ['c'], 'r'),
    node('Flatten', ['r'], 'f'),
    node('MatMul', ['f', 'w'], 'm'),
    node('Add', ['m', 'b'], 'l'),
    node('Softmax', ['l'], 'y'),
    text(2, 'digits'),
    weights('k', [4, 1, 3, 3], 1),
    weights('w', [144, 10], 2),
    weights('b', [10], 3),
    bytes(11, tensorInfo('x', [1, 8, 8])),
    bytes(12, tensorInfo('y', [10])),
  ])
  return modelOf(graph)
}

const FLOAT = 1
/** Numbers of onnx.proto3 (TensorProto.DataType). */
const TYPES: Record<string, number> = {FP32: FLOAT, INT64: 7, BOOL: 9, BYTES: 8, FP16: 10}

/** Shape (n, ...sizes). */
function tensorInfo(name: string, sizes: number[], type = FLOAT): Buffer {
  const dimensions = [message([text(2, 'n')]), ...sizes.map((size) => message([integer(1, size)]))]
  const tensor = message([integer(1, type), bytes(2, message(dimensions.map((one) => bytes(1, one))))])
  return message([text(1, name), bytes(2, message([bytes(1, tensor)]))])
}

function modelOf(graph: Buffer): Buffer {
  return message([
    integer(1, 8),
    text(2, 'flexrack-test'),
    bytes(7, graph),
    bytes(8, message([text(1, ''), integer(2, 13)])),
  ])
}

function message(fields: Buffer[]): Buffer {
  return Buffer.concat(fields)
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value))
}

function bytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(value.length), value])
}

function integer(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)])
}

function varint(value: number): Buffer {
  const out: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...out, rest])
    out.push((rest & 0x7f) | 0x80)
  }
}
