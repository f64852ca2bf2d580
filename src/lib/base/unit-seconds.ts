/**
 * Seconds of the units that times are written with: `90s`, `30m`, `8h`, `7d`. Which of them a text may have, and how
 * many, is its reader's.
 */
export const UNIT_SECONDS: Readonly<Record<string, number>> = {s: 1, m: 60, h: 3600, d: 86_400}
