import {UNIT_SECONDS} from '../base/index.ts'

const SECONDS: Record<string, number> = {ms: 0.001, ...UNIT_SECONDS}

/**
 * Seconds of `10s`, `2m`, `500ms`, `1h` or a bare number of seconds; undefined if it is none of them or over an hour.
 */
export function durationSeconds(text: string): number | undefined {
  const match = /^(\d{1,7}(?:\.\d{1,3})?)\s?(ms|s|m|h)?$/.exec(text.trim())
  if (!match) return undefined
  const seconds = Number(match[1]) * (SECONDS[match[2] ?? 's'] ?? 1)
  return seconds <= 3600 ? seconds : undefined
}

/**
 * Seconds of `30s`, `30m`, `2h`, `1.5d` or a bare number of seconds; undefined if it is none of them or not above zero.
 */
export function sweepSeconds(text: string): number | undefined {
  const match = /^(\d{1,7}(?:\.\d{1,3})?)\s?(s|m|h|d)?$/.exec(text.trim())
  const seconds = match ? Number(match[1]) * (SECONDS[match[2] ?? 's'] ?? 1) : 0
  return seconds > 0 ? seconds : undefined
}
