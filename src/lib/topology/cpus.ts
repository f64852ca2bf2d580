/** `0-2,8` as [0, 1, 2, 8]; empty for an empty text. */
export function parseCpus(list: string): number[] {
  return list
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = 0, last = first] = part.split('-').map(Number)
      return Array.from({length: last - first + 1}, (_, index) => first + index)
    })
}
