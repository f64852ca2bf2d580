/** A larger body is not looked through: its stream counts by its events. */
const LARGEST_BODY = 4 * 1024 ** 2
/** What is longer without an end of an event goes on as it is. */
const LONGEST_EVENT = 1024 ** 2
const STREAMS = new Set(['/v1/chat/completions', '/v1/completions'])
const EVENT_END = /\r?\n\r?\n/g

/** Where a body says what is to be asked; a brace in it, or a name with escapes, is nobody's. */
const OPTIONS = /"stream_options"\s*:\s*(?:null|\{[^{}]*\})/

interface Body {
  stream?: unknown
  stream_options?: {include_usage?: unknown; continuous_usage_stats?: unknown} | null
}

/**
 * The body of a request for a stream that asks for its usage, too, where its client does not: a stream tells it in a
 * last chunk of its own, and only on demand (https://platform.openai.com/docs/api-reference/chat/create,
 * `stream_options`). Undefined where there is nothing to ask. All else stays as the client wrote it: to write a list of
 * a million tokens again takes seconds, and numbers may have more digits than a double.
 */
export function askingUsage(path: string, body: Buffer): Buffer | undefined {
  if (!STREAMS.has(path) || body.length > LARGEST_BODY || !body.includes('stream')) return undefined
  try {
    const text = new TextDecoder('utf-8', {fatal: true}).decode(body)
    const asked = asking(text, JSON.parse(text) as Body | null)
    return asked === undefined ? undefined : Buffer.from(asked)
  } catch {
    return undefined // the engine says what is wrong with it
  }
}

function asking(text: string, body: Body | null): string | undefined {
  const {stream, stream_options: given} = body ?? {}
  const isObject = typeof given === 'object' && !Array.isArray(given)
  if (stream !== true || (given !== undefined && !isObject) || given?.include_usage === true) return undefined
  // vLLM's: without the usage it means nothing, and with it each chunk would have one.
  const {continuous_usage_stats: _, ...options} = given ?? {}
  const wanted = `"stream_options":${JSON.stringify({...options, include_usage: true})}`
  if (given === undefined) return text.replace('{', () => `{${wanted},`)
  const isOnce = text.split('"stream_options"').length === 2 // of several it is not known which is the request's
  return isOnce && OPTIONS.test(text) ? text.replace(OPTIONS, () => wanted) : undefined
}

/** Takes out of a stream what its client has not asked for: the chunk of the usage, and `"usage": null` in all others. */
export class WithoutUsage {
  #held = ''

  /** What goes on of it: whole events. */
  add(chunk: Buffer): Buffer {
    const text = this.#held + chunk.toString('latin1') // each byte is a character
    let [out, from] = ['', 0]
    for (const {index, 0: end} of text.matchAll(EVENT_END)) {
      const event = text.slice(from, index)
      if (!event.includes('"usage"')) out += event + end
      else if (!isUsage(event)) out += event.replace(/,\s*"usage":\s*null/, '') + end
      from = index + end.length
    }
    const left = text.slice(from)
    const isTooLong = left.length > LONGEST_EVENT
    this.#held = isTooLong ? '' : left
    return Buffer.from(isTooLong ? out + left : out, 'latin1')
  }

  /** What is left where a stream ends within an event. */
  end(): Buffer {
    const left = this.#held
    this.#held = ''
    return Buffer.from(left, 'latin1')
  }
}

function isUsage(event: string): boolean {
  try {
    const {choices, usage} = JSON.parse(event.replace(/^data:/, '')) as {choices?: unknown; usage?: unknown}
    return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null
  } catch {
    return false
  }
}
