/**
 * `4` or `2..8`: how many nodes a run is to have, at least and at most. Undefined for what is neither, or begins with
 * the larger one. Pure.
 */
export function readNodeRange(text: string): {nodes: number; minNodes?: number} | undefined {
  const match = /^([1-9]\d{0,3})(?:\.\.([1-9]\d{0,3}))?$/.exec(text)
  if (!match) return undefined
  const [least, most] = [Number(match[1]), Number(match[2] ?? match[1])]
  if (least > most || most > 1024) return undefined
  return least === most ? {nodes: most} : {nodes: most, minNodes: least}
}
