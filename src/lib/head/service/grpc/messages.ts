import {NO_SHARED_MEMORY, REGION} from '../gateway/shared-memory.ts'
import {rawOf} from './contents.ts'
import {
  bytesOf,
  fieldsOf,
  Malformed,
  numberOf,
  readVarint,
  textOf,
  varintOf,
  writeBytes,
  writeDouble,
  writeHead,
  writeNumber,
} from './protobuf.ts'

/**
 * Messages of inference.GRPCInferenceService and what they are over HTTP: the same names in JSON, with tensors in binary
 * behind it. Sources: https://github.com/kserve/open-inference-protocol (gRPC),
 * https://github.com/triton-inference-server/common/blob/main/protobuf/grpc_service.proto.
 */

/** Tensors, outputs and parameters of a message, each. */
const MOST = 1000
const MOST_DIMENSIONS = 64

type Parameter = boolean | number | string
type Parameters = Record<string, Parameter>

export interface HttpRequest {
  model: string
  version: string
  id: string
  head: Buffer
  tensors: Buffer[]
}

/** ModelReadyRequest and ModelMetadataRequest; throws Malformed. */
export function readModel(message: Buffer): {model: string; version: string} {
  const found = {model: '', version: ''}
  for (const field of fieldsOf(message)) {
    if (field.number === 1) found.model = textOf(field)
    if (field.number === 2) found.version = textOf(field)
  }
  return found
}

/** ModelInferRequest. `take`: told of bytes that are needed beside the message's. Throws Malformed. */
export function readInfer(message: Buffer, take: (bytes: number) => void): HttpRequest {
  const read = {model: '', version: '', id: ''}
  const parameters: Parameters = {}
  const inputs: Input[] = []
  const outputs: {name: string; parameters: Parameters}[] = []
  const raw: Buffer[] = []
  const add = <T>(list: T[], one: T): void => {
    if (list.push(one) > MOST) throw new Malformed(`there are more than ${MOST} tensors`)
  }
  for (const field of fieldsOf(message)) {
    if (field.number === 1) read.model = textOf(field)
    if (field.number === 2) read.version = textOf(field)
    if (field.number === 3) read.id = textOf(field)
    if (field.number === 4) readParameter(bytesOf(field), parameters)
    if (field.number === 5) add(inputs, readInput(bytesOf(field), take))
    if (field.number === 6) add(outputs, readOutput(bytesOf(field)))
    if (field.number === 7) add(raw, bytesOf(field))
  }
  // Those without contents have their bytes there, in their order: KServe's client sends both in one message.
  const without = inputs.filter(({contents}) => contents === undefined)
  if (raw.length > 0 && raw.length !== without.length)
    throw new Malformed(
      `${without.length} of ${inputs.length} inputs have no contents, for ${raw.length} raw_input_contents`,
    )
  const tensors = inputs.map((input) => input.contents ?? raw[without.indexOf(input)] ?? Buffer.alloc(0))
  delete parameters.triton_enable_empty_final_response // of streams: there is one answer to each request
  const head = {
    ...(read.id !== '' && {id: read.id}),
    parameters: outputs.length === 0 ? {...parameters, binary_data_output: true} : parameters,
    inputs: inputs.map(({contents: _, ...input}, index) => ({
      ...input,
      parameters: {...input.parameters, binary_data_size: tensors[index]!.length},
    })),
    ...(outputs.length > 0 && {
      outputs: outputs.map((one) => ({name: one.name, parameters: {...one.parameters, binary_data: true}})),
    }),
  }
  return {...read, head: Buffer.from(JSON.stringify(head)), tensors}
}

interface Input {
  name: string
  datatype: string
  shape: number[]
  parameters: Parameters
  contents?: Buffer
}

function readInput(message: Buffer, take: (bytes: number) => void): Input {
  const input: Input = {name: '', datatype: '', shape: [], parameters: {}}
  let contents: Buffer | undefined
  for (const field of fieldsOf(message)) {
    if (field.number === 1) input.name = textOf(field)
    if (field.number === 2) input.datatype = textOf(field)
    if (field.number === 3) readShape(field.value, input.shape)
    if (field.number === 4) readParameter(bytesOf(field), input.parameters)
    if (field.number === 5) contents = bytesOf(field)
  }
  if (Object.hasOwn(input.parameters, REGION)) throw new Malformed(NO_SHARED_MEMORY)
  return contents === undefined ? input : {...input, contents: rawOf(contents, input.datatype, take)}
}

function readShape(value: bigint | Buffer, shape: number[]): void {
  const packed = typeof value === 'bigint' ? varintOf(value) : value
  for (let at = 0; at < packed.length;) {
    const [size, next] = readVarint(packed, at)
    shape.push(safe(BigInt.asIntN(64, size)))
    if (shape.length > MOST_DIMENSIONS) throw new Malformed(`a shape has more than ${MOST_DIMENSIONS} dimensions`)
    at = next
  }
}

function readOutput(message: Buffer): {name: string; parameters: Parameters} {
  const output = {name: '', parameters: {} as Parameters}
  for (const field of fieldsOf(message)) {
    if (field.number === 1) output.name = textOf(field)
    if (field.number === 2) readParameter(bytesOf(field), output.parameters)
  }
  return output
}

/** An entry of map<string, InferParameter>. */
function readParameter(entry: Buffer, into: Parameters): void {
  let key = ''
  let value: Parameter | undefined
  for (const field of fieldsOf(entry)) {
    if (field.number === 1) key = textOf(field)
    if (field.number !== 2) continue
    for (const one of fieldsOf(bytesOf(field))) {
      if (one.number === 1) value = numberOf(one) !== 0n
      if (one.number === 2) value = safe(BigInt.asIntN(64, numberOf(one)))
      if (one.number === 3) value = textOf(one)
      if (one.number === 4) value = readDouble(bytesOf(one))
      if (one.number === 5) value = safe(numberOf(one))
    }
  }
  if (value === undefined || Object.keys(into).length >= MOST) throw new Malformed(`parameter ${key} has no value`)
  // A name such as __proto__ is a name like others.
  Object.defineProperty(into, key, {value, enumerable: true, configurable: true, writable: true})
}

function readDouble(bytes: Buffer): number {
  if (bytes.length !== 8) throw new Malformed('a number has no end')
  const value = bytes.readDoubleLE()
  if (!Number.isFinite(value)) throw new Malformed('a parameter is not finite')
  return value
}

function safe(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER))
    throw new Malformed(`${value} is too large a number`)
  return Number(value)
}

interface Said {
  name?: unknown
  datatype?: unknown
  shape?: unknown
  parameters?: Record<string, unknown>
}
interface Answered extends Record<string, unknown> {
  outputs?: Said[]
}

/**
 * ModelInferResponse of an HTTP answer, in pieces. `headerLength`: bytes of its JSON. Throws where the tensors are not
 * in binary. `isFinal`: of a stream, where nothing more comes for this request.
 */
export function writeInfer(body: Buffer, headerLength: number | undefined, isFinal?: true): Buffer[] {
  const length = headerLength ?? body.length
  if (!(length >= 0 && length <= body.length)) throw new Error('the answer is shorter than the head it tells of')
  const said = JSON.parse(body.toString('utf8', 0, length)) as Answered
  const pieces = [
    writeBytes(1, text(said.model_name)),
    writeBytes(2, text(said.model_version)),
    writeBytes(3, text(said.id)),
    ...writeParameters(4, {...(said.parameters as object), ...(isFinal && {triton_final_response: true})}),
  ]
  const tensors: Buffer[] = []
  let at = length
  for (const output of said.outputs ?? []) {
    const {binary_data_size: size, ...parameters} = output.parameters ?? {}
    if (typeof size !== 'number' || !(size >= 0 && at + size <= body.length))
      throw new Error(`output ${text(output.name)} is not in binary: the model server has to know this extension`)
    const described = Buffer.concat([...describe(output), ...writeParameters(4, parameters)])
    pieces.push(writeBytes(5, described, true))
    tensors.push(writeHead(6, size), body.subarray(at, at + size))
    at += size
  }
  return [...pieces, ...tensors]
}

/** ModelStreamInferResponse: an answer, or why there is none. */
export function writeStreamed(answer: Buffer[] | {error: string; id: string}): Buffer[] {
  if (Array.isArray(answer)) return [writeHead(2, sizeOf(answer)), ...answer]
  return [writeBytes(1, answer.error), writeBytes(2, writeBytes(3, answer.id), true)]
}

export function writeMetadata(said: Answered): Buffer[] {
  return [
    writeBytes(1, text(said.name)),
    ...list(said.versions).map((one) => writeBytes(2, text(one), true)),
    writeBytes(3, text(said.platform)),
    ...list(said.inputs).map((one) => writeBytes(4, Buffer.concat(describe(one as Said)), true)),
    ...list(said.outputs).map((one) => writeBytes(5, Buffer.concat(describe(one as Said)), true)),
  ]
}

export function writeServer(said: Record<string, unknown>): Buffer[] {
  return [
    writeBytes(1, text(said.name)),
    writeBytes(2, text(said.version)),
    ...list(said.extensions).map((one) => writeBytes(3, text(one), true)),
  ]
}

/** ServerLiveResponse, ServerReadyResponse, ModelReadyResponse. */
export function writeTruth(value: boolean): Buffer[] {
  return [writeNumber(1, value ? 1n : 0n)]
}

export function sizeOf(pieces: Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0)
}

function describe({name, datatype, shape}: Said): Buffer[] {
  const packed = Buffer.concat(list(shape).map((size) => varintOf(BigInt(size as number))))
  return [writeBytes(1, text(name)), writeBytes(2, text(datatype)), writeBytes(3, packed)]
}

function writeParameters(number: number, parameters: Record<string, unknown>): Buffer[] {
  return Object.entries(parameters).flatMap(([key, value]) => {
    const written =
      typeof value === 'boolean'
        ? writeNumber(1, value ? 1n : 0n, true)
        : typeof value === 'string'
          ? writeBytes(3, value, true)
          : typeof value === 'number'
            ? Number.isSafeInteger(value)
              ? writeNumber(2, BigInt(value), true)
              : writeDouble(4, value)
            : undefined
    return written ? [writeBytes(number, Buffer.concat([writeBytes(1, key), writeBytes(2, written, true)]))] : []
  })
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
