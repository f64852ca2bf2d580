/** The project of a run, as lists show it. */
export const PROJECT_TAG = 'flexrack.project'

/** Tags by which flexrack finds a run again. Who started it has set them, and nothing inside of it changes them. */
const IDENTITY = new Set([
  'flexrack.run',
  PROJECT_TAG,
  'flexrack.rack',
  'flexrack.nodes',
  'flexrack.sweep',
  'flexrack.trial',
  'flexrack.user',
])

/** The user of the head who started a run; written by the head alone. */
export const USER_TAG = 'flexrack.user'

export const PARENT_TAG = 'mlflow.parentRunId'

/** A tag's name as the most forgiving of the databases compares it: without case, accents and blanks around it. */
export function folded(key: unknown): unknown {
  return typeof key === 'string' ? key.normalize('NFKD').replace(/\p{M}/gu, '').trim().toLowerCase() : key
}

export function isIdentity(key: unknown): boolean {
  return IDENTITY.has(folded(key) as string)
}

export function isParent(key: unknown): boolean {
  return folded(key) === PARENT_TAG.toLowerCase()
}

/** The tags that a call writes to a run, as {key, value}; undefined where they are no list. */
export function tagsOf(call: string, body: Record<string, unknown>): {key?: unknown; value?: unknown}[] | undefined {
  if (call === 'runs/set-tag' || call === 'runs/delete-tag') return [{key: body.key, value: body.value}]
  if (call !== 'runs/log-batch' || body.tags === undefined || body.tags === null) return []
  return Array.isArray(body.tags)
    ? body.tags.map((tag: unknown) => (typeof tag === 'object' && tag !== null ? tag : {}))
    : undefined
}
