import type {SampledContent} from '../../types.ts'
import {redact, TooDeep, type RedactPath} from './redact.ts'

/** A body, and what its headers say of it. */
export interface Body {
  type: string | undefined
  /** Undefined where it was too large to be kept, or encoded. */
  bytes: Buffer | undefined
}

/** A name of a secret with its value, in what is no JSON: a form, YAML, JSON with a slip. */
const SECRET_IN_TEXT = /(?:authorization|api[-_]?key|passw(?:or)?d|secret|credentials?|token)["']?\s*[:=]/i

/**
 * A body as a sample has it: JSON as a value, events of a stream as values, text as text, else in Base64. Where something
 * is to be redacted and cannot be found, because the body is none of JSON, nothing of it is in the sample. Pure.
 */
export function contentOf({type, bytes}: Body, paths: readonly RedactPath[]): SampledContent {
  const about = type === undefined ? {} : {type}
  if (!bytes) return {...about, omitted: 'too large, or compressed'}
  const text = textOf(bytes)
  const kind = type?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (text !== undefined && kind === 'text/event-stream') return {...about, events: eventsOf(text, paths)}
  if (text !== undefined && kind !== 'application/octet-stream') {
    try {
      return {...about, json: redact(JSON.parse(text), paths)}
    } catch (error) {
      if (error instanceof TooDeep) return {...about, omitted: 'nested too deeply'}
      // Not JSON, whatever it is called.
    }
  }
  if (paths.length > 0) return {...about, omitted: 'not JSON, so that nothing in it can be redacted'}
  if (text !== undefined && SECRET_IN_TEXT.test(text)) return {...about, omitted: 'may have a secret in it'}
  return text === undefined || kind === 'application/octet-stream'
    ? {...about, base64: bytes.toString('base64')}
    : {...about, text}
}

/** The data of server-sent events, as far as it is JSON; what is not is kept where nothing is to be redacted. */
function eventsOf(text: string, paths: readonly RedactPath[]): unknown[] {
  return text.split(/\r?\n/).flatMap((line) => {
    if (!line.startsWith('data:')) return []
    const data = line.slice(5).trim()
    try {
      return [redact(JSON.parse(data), paths)]
    } catch (error) {
      if (error instanceof TooDeep) return []
      return paths.length === 0 || data === '[DONE]' ? [data] : []
    }
  })
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', {fatal: true}).decode(bytes)
  } catch {
    return undefined
  }
}
