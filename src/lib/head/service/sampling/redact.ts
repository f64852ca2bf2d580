/** What is never in a sample, whoever asks for it: texts under such names. */
const SECRET_NAME =
  /^(?:.*[-_.])?(?:authorization|api[-_]?key|password|passwd|secret|credentials?|access[-_]?token|token)$/i

/** Names on the way to what is to be left out; `*`: any name or index. */
export type RedactPath = readonly string[]

/** No request of a model server is so deep; who walks one that is would run out of stack. */
const DEEPEST = 200

/** A value that cannot be looked through. */
export class TooDeep extends Error {}

/**
 * A JSON value with the texts, numbers and lists at these paths replaced by what they are, such as `[text of 12]`, and
 * texts under names of secrets by `[secret]`. Shapes stay: what a model server would refuse can still be seen. Pure.
 * Throws TooDeep.
 */
export function redact(value: unknown, paths: readonly RedactPath[], depth = 0): unknown {
  if (depth > DEEPEST) throw new TooDeep()
  if (paths.some((path) => path.length === 0)) return shapeOf(value)
  if (Array.isArray(value)) return value.map((one, index) => redact(one, below(paths, String(index)), depth + 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      typeof one === 'string' && SECRET_NAME.test(name) ? '[secret]' : redact(one, below(paths, name), depth + 1),
    ]),
  )
}

function below(paths: readonly RedactPath[], name: string): RedactPath[] {
  return paths.filter(([first]) => first === '*' || first === name).map((path) => path.slice(1))
}

function shapeOf(value: unknown): unknown {
  if (typeof value === 'string') return `[text of ${value.length}]`
  if (typeof value === 'number') return '[number]'
  if (Array.isArray(value)) return `[list of ${value.length}]`
  return typeof value === 'object' && value !== null ? `[object of ${Object.keys(value).length}]` : value
}
