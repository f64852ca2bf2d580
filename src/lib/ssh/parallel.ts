import type {Fleet, NodeShell} from './types.ts'

/**
 * Runs `fn` on every named node and waits for all of them: one node's failure never hides another's.
 * `parallel` bounds how many run at once (default 32). Both maps keep the order of `names`.
 */
export async function forEachNode<T>(
  fleet: Fleet,
  names: string[],
  fn: (shell: NodeShell, node: string) => Promise<T>,
  options: {parallel?: number} = {},
): Promise<{done: Map<string, T>; failed: Map<string, Error>}> {
  const slots = new Slots(options.parallel ?? 32)
  const settled = await Promise.allSettled(
    names.map(async (name) => {
      const release = await slots.take()
      try {
        return await fn(await fleet.shell(name), name)
      } finally {
        release()
      }
    }),
  )
  const done = new Map<string, T>()
  const failed = new Map<string, Error>()
  settled.forEach((outcome, index) => {
    const name = names[index] as string
    if (outcome.status === 'fulfilled') done.set(name, outcome.value)
    else failed.set(name, outcome.reason instanceof Error ? outcome.reason : new Error(String(outcome.reason)))
  })
  return {done, failed}
}

/** A counting semaphore, first come first served. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = Math.max(1, count)
  }

  /** Waits for a slot; the returned function gives it back (once; calling it again does nothing). */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    let held = true
    return () => {
      if (!held) return
      held = false
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
