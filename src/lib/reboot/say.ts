import type {Context} from '../base/index.ts'
import type {ComesBack} from '../protocol/index.ts'

/** What was said already, once a command. */
const told = new WeakMap<Context, Set<string>>()

/** Warns where nobody starts a service again after a reboot of its node. */
export function warnOfReboot(node: string, what: string, {by, why}: ComesBack, context: Context): void {
  if (by !== 'none') return
  const text = `${node}: ${what} will not come back after a reboot of the node (${why ?? 'nobody would start it'})`
  const before = told.get(context) ?? new Set<string>()
  if (before.has(text)) return
  told.set(context, before.add(text))
  context.reporter.warn(text)
}

/** What a step that starts a service says of it. */
export function rebootTitle({by}: ComesBack): string {
  return by === 'systemd' || by === 'cron' ? `, and have ${by} start it again after a reboot` : ''
}
