import {StringDecoder} from 'node:string_decoder'

/** What an answer of OpenAI's API took, in tokens of the model. */
export interface TokenUsage {
  prompt: number
  completion: number
}

/** Of an answer that is no stream: a larger one tells no usage. */
const LARGEST_JSON = 4 * 1024 ** 2
/** A longer event of a stream is passed over. */
const LONGEST_LINE = 1024 ** 2

/**
 * Reads on the way what an answer of OpenAI's API says of its tokens
 * (https://platform.openai.com/docs/api-reference/chat/object, `usage`; responses have it as `input_tokens` and
 * `output_tokens`). A stream tells it at its end, where it is asked for that (askingUsage). Of one that was left, or that
 * tells nothing, each event counts as a token of the completion, which is what engines send; the prompt is not known.
 */
export class AnswerUsage {
  readonly #isStream: boolean
  readonly #decoder = new StringDecoder('utf8')
  #text = ''
  #isTooLong = false
  #events = 0
  #usage: TokenUsage | undefined
  /** When the first piece came, by performance.now(), of a stream. */
  firstAt: number | undefined

  /** `type`: the content type of the answer. */
  constructor(type: string) {
    this.#isStream = /^text\/event-stream\b/i.test(type)
  }

  add(chunk: Buffer): void {
    if (this.#isStream) {
      this.firstAt ??= performance.now()
      return this.#read(this.#decoder.write(chunk))
    }
    if (this.#isTooLong) return
    this.#text += this.#decoder.write(chunk)
    this.#isTooLong = this.#text.length > LARGEST_JSON
    if (this.#isTooLong) this.#text = ''
  }

  /** Undefined where the answer told nothing. What a stream had until its reader left counts. */
  end(): TokenUsage | undefined {
    if (!this.#isStream) return usageOf(parse(this.#text))
    return this.#usage ?? (this.#events > 0 ? {prompt: 0, completion: this.#events} : undefined)
  }

  #read(text: string): void {
    const lines = (this.#text + text).split('\n')
    this.#text = lines.pop() ?? ''
    if (this.#text.length > LONGEST_LINE) {
      this.#text = ''
      this.#isTooLong = true
    }
    for (const line of lines) {
      if (this.#isTooLong) this.#isTooLong = false // the end of what was passed over
      else if (line.startsWith('data:')) this.#event(line.slice(5).trim())
    }
  }

  #event(data: string): void {
    if (data === '[DONE]') return
    this.#events++
    // Most events have none, and need not be parsed.
    if (data.includes('"usage"')) this.#usage = usageOf(parse(data)) ?? this.#usage
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An event of the responses API has the whole response in it. */
function usageOf(answer: unknown): TokenUsage | undefined {
  const {usage, response} = (answer ?? {}) as {usage?: unknown; response?: {usage?: unknown}}
  const said = (usage ?? response?.usage) as Record<string, unknown> | null | undefined
  if (typeof said !== 'object' || said === null) return undefined
  const [prompt, completion] = [
    said.prompt_tokens ?? said.input_tokens,
    said.completion_tokens ?? said.output_tokens ?? 0,
  ]
  return isCount(prompt) && isCount(completion) ? {prompt, completion} : undefined
}

/** An engine that lies must not lend tokens, nor owe them for ever. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1e8
}
