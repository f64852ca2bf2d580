/** A larger body is not looked through: its stream counts by its events. */
const LARGEST_BODY = 4 * 1024 ** 2
/** What is longer without an end of an event goes on as it is. */
const LONGEST_EVENT = 1024 ** 2
const STREAMS = new Set(['/v1/chat/completions', '/v1/completions'])
const EVENT_END = /\r?\n\r?\n/g

/**
 * The body of a request for a stream that asks for its usage, too, where its client does not: a stream tells it in a
 * last chunk of its own, and only on demand (https://platform.openai.com/docs/api-reference/chat/create,
 * `stream_options`). Undefined where there is nothing to ask. Numbers stay as the client wrote them.
 */
export function askingUsage(path: string, body: Buffer): Buffer | undefined {
  if (!STREAMS.has(path) || body.length > LARGEST_BODY || !body.includes('stream')) return undefined
  try {
    const text = new TextDecoder('utf-8', {fatal: true}).decode(body)
    if (!mayAsk(JSON.parse(text))) return undefined
    const whole = JSON.parse(text, asWritten) as {stream_options?: {continuous_usage_stats?: unknown}}
    // vLLM's: without the usage it means nothing, and with it each chunk would have one.
    const {continuous_usage_stats: _, ...options} = whole.stream_options ?? {}
    const asked = {...whole, stream_options: {...options, include_usage: true}}
    return Buffer.from(JSON.stringify(asked))
  } catch {
    return undefined // the engine says what is wrong with it
  }
}

function mayAsk(body: unknown): boolean {
  const {stream, stream_options: options = null} = (body ?? {}) as {stream?: unknown; stream_options?: unknown}
  if (stream !== true || typeof options !== 'object' || Array.isArray(options)) return false
  return (options as {include_usage?: unknown} | null)?.include_usage !== true
}

/** A number may have more digits than a double. TypeScript does not know of its source, nor of rawJSON, yet. */
const {rawJSON} = JSON as unknown as {rawJSON: (text: string) => unknown}
const asWritten = (_key: string, value: unknown, ...[context]: {source: string}[]): unknown =>
  typeof value === 'number' ? rawJSON(context!.source) : value

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
