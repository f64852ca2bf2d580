import {CliError, nearestName} from '../base/index.ts'
import type {InvokeInput} from './call.ts'
import {parseNpy} from './npy.ts'
import {
  fitShape,
  tensorFromLists,
  type InferRequest,
  type ModelMetadata,
  type Tensor,
  type TensorMetadata,
} from './tensor.ts'

/** The request for what was given. Pure. */
export function buildRequest(input: Pick<InvokeInput, 'file' | 'bytes'>, metadata: ModelMetadata): InferRequest {
  if (input.file.endsWith('.npy') || input.bytes.toString('latin1', 0, 6) === '\x93NUMPY') {
    const only = onlyInput(metadata, `${input.file} is one array`)
    const {datatype, shape, data} = parseNpy(input.bytes, input.file)
    checkDatatype(datatype, only)
    return {inputs: [fitShape({name: only.name, datatype: only.datatype, shape, data: castTo(data, only)}, only)]}
  }
  const value = parseJson(input)
  if (Array.isArray(value)) return {inputs: [tensorFromLists(value, onlyInput(metadata, `${input.file} is one list`))]}
  if (typeof value === 'object' && value !== null && Array.isArray((value as InferRequest).inputs)) {
    return checkRequest(value as InferRequest, metadata)
  }
  if (typeof value === 'object' && value !== null) {
    return {
      inputs: Object.entries(value).map(([name, lists]) =>
        tensorFromLists(Array.isArray(lists) ? lists : [lists], inputOf(metadata, name)),
      ),
    }
  }
  throw new CliError('USAGE', `${input.file} is neither a request, nor lists, nor an object of lists`, {
    hint: `give lists, such as [[1, 2, 3]]`,
  })
}

/**
 * A whole request is sent as it is; names and shapes are checked here, as the sentence is clearer than the server's.
 */
function checkRequest(request: InferRequest, metadata: ModelMetadata): InferRequest {
  for (const tensor of request.inputs) {
    const known = inputOf(metadata, tensor.name)
    if (Array.isArray(tensor.shape)) {
      const shape = tensor.shape.length === known.shape.length ? known.shape : [...known.shape, 0]
      fitShape({...tensor, data: []} as Tensor, {...known, shape})
    }
  }
  return request
}

function parseJson({file, bytes}: Pick<InvokeInput, 'file' | 'bytes'>): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw new CliError('USAGE', `${file} is not JSON: ${(error as Error).message}`, {
      hint: 'give JSON, or a file whose name ends in .npy',
      cause: error,
    })
  }
}

function onlyInput(metadata: ModelMetadata, what: string): TensorMetadata {
  const [only] = metadata.inputs
  if (only && metadata.inputs.length === 1) return only
  const names = metadata.inputs.map((one) => one.name).join(', ')
  throw new CliError('USAGE', `${what}, but the model takes ${metadata.inputs.length} inputs: ${names}`, {
    hint: 'give an object with a list for each name',
  })
}

function inputOf(metadata: ModelMetadata, name: string): TensorMetadata {
  const found = metadata.inputs.find((one) => one.name === name)
  if (found) return found
  const names = metadata.inputs.map((one) => one.name)
  const nearest = nearestName(name, names)
  throw new CliError('USAGE', `the model has no input ${name}${nearest ? `; did you mean ${nearest}?` : ''}`, {
    details: {inputs: names},
  })
}

/** Numbers may be narrowed or widened within their kind, and integers given for floats; nothing else. */
function checkDatatype(given: string, input: TensorMetadata): void {
  const kind = (datatype: string): string => datatype.replace(/\d+$/, '').replace('UINT', 'INT')
  if (kind(given) === kind(input.datatype) || (kind(given) === 'INT' && kind(input.datatype) === 'FP')) return
  throw new CliError('USAGE', `the array is ${given}, but ${input.name} takes ${input.datatype}`, {
    hint: `array.astype(...) to ${input.datatype} before saving it`,
  })
}

function castTo(data: (number | boolean)[], input: TensorMetadata): (number | boolean)[] {
  const bad = data.findIndex((value) => typeof value === 'number' && !Number.isFinite(value))
  if (bad >= 0)
    throw new CliError(
      'USAGE',
      `value ${bad + 1} of the array is ${data[bad]}, which JSON cannot carry to ${input.name}`,
    )
  return data
}
