/** How many model servers an endpoint has: with `minReplicas` between that and `replicas`, as the head chooses. */
export interface ReplicaRange {
  replicas: number
  minReplicas?: number
}

const MOST = 64

/** `3`, `1..8` or `0..8`. Undefined for what is neither, begins with the larger one, or is never a server. Pure. */
export function readReplicaRange(text: string): ReplicaRange | undefined {
  const match = /^(\d{1,2})(?:\.\.(\d{1,2}))?$/.exec(text)
  if (!match) return undefined
  const [least, most] = [Number(match[1]), Number(match[2] ?? match[1])]
  if (least > most || most < 1 || most > MOST) return undefined
  return least === most ? {replicas: most} : {replicas: most, minReplicas: least}
}
