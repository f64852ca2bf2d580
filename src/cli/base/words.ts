/** As oclif's parser tells of each word it was given. */
interface Token {
  type: string
  input: string
}

/**
 * The arguments that were typed, in their order. (oclif's own `argv` is sorted by where a word was first seen: `-n 2 --
 * x 2` becomes `2 x`.)
 */
export function wordsOf(raw: readonly Token[]): string[] {
  return raw.filter((token) => token.type === 'arg').map((token) => token.input)
}
