import {setTimeout as pause} from 'node:timers/promises'
import type {Context} from '../../lib/base/index.ts'

/** Looks, tells what was found, and waits, again and again until Ctrl-C; a look that it cut short is not told. Errors: those of `look`. */
export async function repeatLooks<T>(
  {seconds, look, tell}: {seconds: number; look(): Promise<T>; tell(found: T): void},
  {signal}: Pick<Context, 'signal'>,
): Promise<void> {
  while (!signal.aborted) {
    const found = await look()
    if (signal.aborted) return
    tell(found)
    await pause(seconds * 1000, undefined, {signal}).catch(() => {})
  }
}
