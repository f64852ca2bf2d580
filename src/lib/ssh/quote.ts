/**
 * Words as one line of POSIX sh: each comes out as exactly one argument, whatever is in it (except NUL, which no
 * argument can hold).
 */
export function quote(words: string[]): string {
  return words
    .map((word) => (/^[A-Za-z0-9_./:@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ')
}
