import type {StepHandler} from '../plan/index.ts'

/** How long the steps of each kind took, from the first one's beginning to the last one's end. Milliseconds. */
export class StepTimes {
  readonly #spans = new Map<string, {from: number; to: number}>()

  /** The same handlers, timed. */
  around(handlers: Record<string, StepHandler>): Record<string, StepHandler> {
    return Object.fromEntries(Object.entries(handlers).map(([kind, handler]) => [kind, this.#timed(kind, handler)]))
  }

  /** 0 where no step of that kind was done. */
  of(kind: string): number {
    const span = this.#spans.get(kind)
    return span ? span.to - span.from : 0
  }

  #timed(kind: string, handler: StepHandler): StepHandler {
    return async (step, done) => {
      const from = performance.now()
      try {
        return await handler(step, done)
      } finally {
        const known = this.#spans.get(kind)
        this.#spans.set(kind, {from: Math.min(from, known?.from ?? from), to: performance.now()})
      }
    }
  }
}
