import {hash} from 'node:crypto'

/** What the first line of all has in the place of the hash of the one before. */
export const FIRST_HASH = '0'.repeat(64)

/** What makes a line one of a chain, beside what it says. */
export interface Link {
  /** 1, 2, 3 ... */
  seq: number
  /** Hash of the line before. */
  before: string
}

const HASHED = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/s

/** The line of a value, without its end, and the line's hash. */
export function link<T extends Link>(value: T): {line: string; hash: string} {
  const text = JSON.stringify(value)
  const own = chainHash(text)
  return {line: `${text.slice(0, -1)},"hash":"${own}"}`, hash: own}
}

/** What a line says, with its hash; undefined where it is not what was written. */
export function readLink<T extends object>(line: string): (T & Link & {hash: string}) | undefined {
  const [, text, own] = HASHED.exec(line) ?? []
  if (text === undefined || own !== chainHash(`${text}}`)) return undefined
  try {
    const {seq, before, ...value} = JSON.parse(`${text}}`) as T & Link
    return Number.isSafeInteger(seq) && typeof before === 'string'
      ? ({...value, seq, before, hash: own} as T & Link & {hash: string})
      : undefined
  } catch {
    return undefined
  }
}

export function chainHash(text: string): string {
  return hash('sha256', text)
}
