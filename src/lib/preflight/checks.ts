import {CliError} from '../base/index.ts'
import {nearestName} from '../document/index.ts'

/** What a preflight looks at; `pairs`: only where there is more than one node. */
export const CHECKS = {
  clock: {about: 'clocks in step', pairs: false},
  versions: {about: 'driver, NCCL, Python, packages and environment alike', pairs: false},
  limits: {about: 'open files, processes, locked memory where there is RDMA', pairs: false},
  shm: {about: 'size of /dev/shm', pairs: false},
  disk: {about: 'room and files on the disks', pairs: false},
  ports: {about: 'address and ports free for the rendezvous and for connections', pairs: false},
  rdma: {about: 'state of InfiniBand and RoCE ports', pairs: false},
  gpus: {about: 'GPU memory really free', pairs: false},
  leftovers: {about: 'processes of earlier runs', pairs: false},
  reach: {about: 'every node reaches every other by TCP', pairs: true},
  bandwidth: {about: 'what a TCP stream carries between nodes', pairs: true},
} as const satisfies Record<string, {about: string; pairs: boolean}>

export type CheckName = keyof typeof CHECKS

/** The names in `--skip a,b`, checked; `all` and `preflight` mean every one. Errors: USAGE with the nearest name. */
export function parseSkip(text: string | undefined): CheckName[] {
  if (text === undefined) return []
  const names = Object.keys(CHECKS) as CheckName[]
  return text.split(',').flatMap((part): CheckName[] => {
    const word = part.trim()
    if (word === 'all' || word === 'preflight') return names
    if (Object.hasOwn(CHECKS, word)) return [word as CheckName]
    const nearest = nearestName(word, [...names, 'all'])
    throw new CliError('USAGE', `--skip: there is no check "${word}"`, {
      hint: `--skip ${nearest ?? names.join(',')}`,
      details: {checks: names},
    })
  })
}

/** Which checks run on so many nodes. Without reachability there is nothing to say about bandwidth. Pure. */
export function chosenChecks(skip: readonly CheckName[], nodes: number): CheckName[] {
  return (Object.keys(CHECKS) as CheckName[]).filter(
    (name) =>
      !skip.includes(name) && (nodes > 1 || !CHECKS[name].pairs) && !(name === 'bandwidth' && skip.includes('reach')),
  )
}
