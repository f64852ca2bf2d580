/** What is read back of a value that was written to a file. */
export function throughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
