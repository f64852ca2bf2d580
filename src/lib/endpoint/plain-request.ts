import {CliError} from '../base/index.ts'
import type {ServingProtocol} from '../protocol/index.ts'
import type {InvokeInput} from './call.ts'
import {parseNpy} from './npy.ts'

export interface PlainRequest {
  /** Below the endpoint's address. */
  path: string
  type: string
  body: Buffer
}

/**
 * What goes to a server that speaks OpenAI's API (a request as it is, or a text, which is what the user says in a chat)
 * or MLflow's (a request as it is, a CSV with a header, nested lists, or a .npy array). USAGE for anything else. Pure.
 */
export function plainRequest(protocol: Exclude<ServingProtocol, 'v2'>, input: InvokeInput): PlainRequest {
  return protocol === 'openai' ? openaiRequest(input) : mlflowRequest(input)
}

function openaiRequest({name, bytes}: InvokeInput): PlainRequest {
  const text = bytes.toString('utf8')
  const value = jsonOf(text)
  if (!isObject(value))
    return json('/v1/chat/completions', {model: name, messages: [{role: 'user', content: text.trim()}]})
  const request = {model: name, ...value}
  if ('messages' in value) return json('/v1/chat/completions', request)
  if ('prompt' in value) return json('/v1/completions', request)
  if ('input' in value) return json('/v1/embeddings', request)
  throw new CliError('USAGE', 'the request has neither messages, nor a prompt, nor an input', {
    hint: `--data '{"messages": [{"role": "user", "content": "Hello"}]}', or a text`,
  })
}

function mlflowRequest({file, bytes}: InvokeInput): PlainRequest {
  if (file.endsWith('.csv')) return {path: '/invocations', type: 'text/csv', body: bytes}
  if (file.endsWith('.npy') || bytes.toString('latin1', 0, 6) === '\x93NUMPY') {
    const {shape, data} = parseNpy(bytes, file)
    return json('/invocations', {inputs: nested(data, shape)})
  }
  const value = jsonOf(bytes.toString('utf8'))
  if (Array.isArray(value)) return json('/invocations', {inputs: value})
  if (isObject(value)) return json('/invocations', value)
  throw new CliError('USAGE', `${file} is neither JSON, nor CSV, nor an array`, {
    hint: 'give lists such as [[1, 2, 3]], a request for /invocations, or a file whose name ends in .csv or .npy',
  })
}

function nested(data: unknown[], shape: number[]): unknown {
  const [, ...inner] = shape
  if (shape.length === 0) return data[0]
  if (inner.length === 0) return data
  const size = inner.reduce((product, length) => product * length, 1)
  return Array.from({length: shape[0] ?? 0}, (_, row) => nested(data.slice(row * size, (row + 1) * size), inner))
}

function json(path: string, value: unknown): PlainRequest {
  return {path, type: 'application/json', body: Buffer.from(JSON.stringify(value))}
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
