/**
 * Whether any part of a value would be taken for a reference where it comes into a plan (src/lib/plan/reference.ts).
 */
export function holdsReference(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const {$output, $env} = value as {$output?: unknown; $env?: unknown}
  return typeof $output === 'string' || typeof $env === 'string' || Object.values(value).some(holdsReference)
}
