import {parameterVariable, type SweepSpec} from '../manifest/index.ts'
import type {Trial} from '../protocol/index.ts'

/**
 * What a trial adds to the command: the manifest's `sweep.arguments` with the values put in, else a flag for each
 * parameter. Pure.
 */
export function trialWords(spec: Pick<SweepSpec, 'arguments'>, texts: Record<string, string>): string[] {
  if (!spec.arguments) return Object.entries(texts).flatMap(([name, text]) => [`--${name.replaceAll('_', '-')}`, text])
  return spec.arguments.map((word) =>
    word.replaceAll(/\{([A-Za-z][A-Za-z0-9_.-]*)\}/g, (whole, name: string) => texts[name] ?? whole),
  )
}

/** What is in a trial's environment besides. Pure. */
export function trialEnvironment(
  sweep: string,
  {number, texts}: Pick<Trial, 'number' | 'texts'>,
): Record<string, string> {
  return {
    FLEXRACK_SWEEP: sweep,
    FLEXRACK_TRIAL: String(number),
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [parameterVariable(name), text])),
  }
}

/** Id of a trial's run: later attempts have one of their own. */
export function trialRun(sweep: string, number: number, attempt: number): string {
  return `${sweep}-${number}${attempt > 1 ? `.${attempt}` : ''}`
}

/** The trial with the best value; null where none has one. Of equals the first. Pure. */
export function bestOf(trials: Trial[], goal: SweepSpec['goal']): Trial | null {
  const sign = goal === 'maximize' ? 1 : -1
  let best: Trial | null = null
  for (const one of trials) {
    if (
      one.state === 'complete' &&
      one.value !== null &&
      (best === null || best.value === null || sign * one.value > sign * best.value)
    )
      best = one
  }
  return best
}
