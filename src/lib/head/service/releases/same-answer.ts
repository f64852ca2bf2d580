/** An answer as far as it was kept. */
export interface Kept {
  status: number
  /** Of its content; undefined where there is none. */
  type: string | undefined
  /** Undefined where it was too large to be kept, or encoded. */
  body: Buffer | undefined
}

export type Comparison = {result: 'same' | 'failed' | 'uncompared'} | {result: 'different'; at: string}

/** What two computations of the same model in single precision differ by. */
const TOLERANCE = 1e-5
/** Of an answer as such, not of what it says: they differ from request to request, or from version to version. */
const PASSED_OVER = new Set([
  'id',
  'created',
  'created_at',
  'completed_at',
  'model_version',
  'system_fingerprint',
  'usage',
  'timings', // llama.cpp's, of each answer
])
/** Names that an engine draws for the parts of one answer of OpenAI's API. */
const DRAWN = /(?:^output|\.tool_calls)\[\d+\]\.(?:id|call_id)$/

/**
 * Whether the copy of a request was answered as the request itself. JSON is compared by value, numbers with a relative
 * tolerance of 1e-5; `at` is where the first difference is, without the values, which are the caller's. Other content
 * is the same where its bytes are, else it is not compared: two of its floats may differ by nothing.
 */
export function compareAnswers(real: Kept, copy: Kept): Comparison {
  const [good, goodCopy] = [real.status < 400, copy.status < 400]
  if (good !== goodCopy) return good ? {result: 'failed'} : {result: 'different', at: 'status'}
  if (!good) return real.status === copy.status ? {result: 'same'} : {result: 'different', at: 'status'}
  if (!real.body || !copy.body) return {result: 'uncompared'}
  if (real.body.equals(copy.body)) return {result: 'same'}
  const isJson = [real, copy].every(({type = ''}) => /^application\/json\b/i.test(type))
  if (!isJson) return {result: 'uncompared'}
  try {
    const at = difference(JSON.parse(real.body.toString('utf8')), JSON.parse(copy.body.toString('utf8')), '')
    return at === undefined ? {result: 'same'} : {result: 'different', at}
  } catch {
    return {result: 'uncompared'}
  }
}

/** Where two values differ first; undefined where they do not. */
function difference(one: unknown, other: unknown, at: string): string | undefined {
  if (typeof one === 'number' && typeof other === 'number') {
    return Math.abs(one - other) <= TOLERANCE * Math.max(1, Math.abs(one), Math.abs(other)) ? undefined : at
  }
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return one === other ? undefined : at
  }
  if (Array.isArray(one) !== Array.isArray(other)) return at
  if (Array.isArray(one)) return listDifference(one, other as unknown[], at)
  const [first, second] = [one as Record<string, unknown>, other as Record<string, unknown>]
  for (const key of new Set([...Object.keys(first), ...Object.keys(second)])) {
    if (at === '' && PASSED_OVER.has(key)) continue
    const below = at === '' ? key : `${at}.${key}`
    if (DRAWN.test(below)) continue
    const found = difference(first[key], second[key], below)
    if (found !== undefined) return found
  }
  return undefined
}

function listDifference(one: unknown[], other: unknown[], at: string): string | undefined {
  if (one.length !== other.length) return `${at}.length`
  for (const [index, value] of one.entries()) {
    const found = difference(value, other[index], `${at}[${index}]`)
    if (found !== undefined) return found
  }
  return undefined
}
