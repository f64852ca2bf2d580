import {CliError} from '../base/index.ts'

/** A tensor as the Open Inference Protocol describes it; -1 is a dimension that varies. */
export interface TensorMetadata {
  name: string
  datatype: string
  shape: number[]
}

export interface ModelMetadata {
  name: string
  versions?: string[]
  platform?: string
  inputs: TensorMetadata[]
  outputs: TensorMetadata[]
}

export interface Tensor extends TensorMetadata {
  data: unknown[]
}

export interface InferRequest {
  id?: string
  inputs: Tensor[]
  outputs?: {name: string}[]
  parameters?: Record<string, unknown>
}

export interface InferResponse {
  model_name: string
  model_version?: string
  id?: string
  outputs: Tensor[]
}

/**
 * A request of zeros in the smallest shape. `certain`: only the first dimension varies, so a good model must answer it.
 */
export function smokeRequest(metadata: ModelMetadata): {request: InferRequest; certain: boolean} {
  const inputs = metadata.inputs.map(({name, datatype, shape}): Tensor => {
    const smallest = shape.map((size) => (size < 0 ? 1 : size))
    return {name, datatype, shape: smallest, data: Array.from({length: sizeOf(smallest)}, () => zeroOf(datatype))}
  })
  const certain = metadata.inputs.every(
    ({datatype, shape}) => datatype !== 'BYTES' && shape.slice(1).every((size) => size >= 0),
  )
  return {request: {inputs}, certain}
}

/**
 * The tensor for one input of the model from nested lists: `[[5.1, 3.5]]`, or without its first dimension for a single
 * item. USAGE says where the lists do not fit.
 */
export function tensorFromLists(lists: unknown, input: TensorMetadata): Tensor {
  const shape = shapeOf(lists, input.name)
  const data = flatten(lists)
  checkValues(data, input)
  return fitShape({name: input.name, datatype: input.datatype, shape, data}, input)
}

/** A tensor whose shape fits the input, with a leading 1 where one item was given for a batch. USAGE otherwise. */
export function fitShape(tensor: Tensor, input: TensorMetadata): Tensor {
  const fits = (shape: number[]): boolean =>
    shape.length === input.shape.length && shape.every((size, at) => input.shape[at] === -1 || input.shape[at] === size)
  if (fits(tensor.shape)) return tensor
  if (fits([1, ...tensor.shape])) return {...tensor, shape: [1, ...tensor.shape]}
  throw new CliError(
    'USAGE',
    `the input has shape ${shapeText(tensor.shape)}, but ${input.name} takes ${shapeText(input.shape)}${input.shape.includes(-1) ? ', where ? is any size' : ''}`,
    {
      details: {given: tensor.shape, expected: input.shape},
    },
  )
}

/** `(?, 1, 8, 8)`. */
export function shapeText(shape: number[]): string {
  return `(${shape.map((size) => (size < 0 ? '?' : size)).join(', ')})`
}

export function sizeOf(shape: number[]): number {
  return shape.reduce((product, size) => product * size, 1)
}

function shapeOf(value: unknown, name: string, path = ''): number[] {
  if (!Array.isArray(value)) return []
  const first = shapeOf(value[0], name, `${path}[0]`)
  for (const [index, part] of value.entries()) {
    const other = shapeOf(part, name, `${path}[${index}]`)
    if (other.length !== first.length || other.some((size, at) => size !== first[at])) {
      throw new CliError(
        'USAGE',
        `the lists for ${name} are not of one shape: ${path}[${index}] is ${shapeText(other)}, ${path}[0] is ${shapeText(first)}`,
      )
    }
  }
  return [value.length, ...first]
}

function flatten(value: unknown): unknown[] {
  return Array.isArray(value) ? value.flatMap(flatten) : [value]
}

function checkValues(data: unknown[], {name, datatype}: TensorMetadata): void {
  const wanted = datatype === 'BYTES' ? 'string' : datatype === 'BOOL' ? 'boolean' : 'number'
  const at = data.findIndex((value) => typeof value !== wanted)
  if (at >= 0)
    throw new CliError(
      'USAGE',
      `${name} takes ${datatype}, but value ${at + 1} of the input is ${JSON.stringify(data[at])}`,
    )
}

function zeroOf(datatype: string): unknown {
  if (datatype === 'BYTES') return ''
  return datatype === 'BOOL' ? false : 0
}
