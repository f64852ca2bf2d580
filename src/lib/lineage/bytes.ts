/** Names of a node's files as Python has them: bytes that are no UTF-8 are lone surrogates (PEP 383). */

/** Both in the order of code points, as Python sorts text. Pure. */
export function compareText(a: string, b: string): number {
  const [left, right] = [[...a], [...b]]
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = (left[index]?.codePointAt(0) ?? 0) - (right[index]?.codePointAt(0) ?? 0)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** The bytes that a name has on the node. Pure. */
export function bytesOf(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text)
  return Buffer.concat(
    [...text].map((one) => {
      const code = one.codePointAt(0) ?? 0
      return code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(one)
    }),
  )
}
