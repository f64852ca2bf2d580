/** Who may have a quota: `user:alice`, `user:*` (each user), `team:vision`, `project:digits`. Here and at the head. */
export function isQuotaName(name: string): boolean {
  return name === 'user:*' || /^(user|team|project):[A-Za-z0-9][\w.-]{0,99}$/.test(name)
}

/** What a quota limits, in words of tables. */
export const QUOTA_WORDS = {
  gpus: 'GPUs',
  gpu_hours: 'GPU hours this month',
  runs: 'runs',
  notebooks: 'notebooks',
  endpoints: 'endpoints',
  servers: 'model servers',
  disk: 'GiB of disk',
} as const

/** How much it is, as tables and sums have it: bytes in GiB. Pure. */
export function quotaAmount(what: keyof typeof QUOTA_WORDS, number: number): number {
  return what === 'disk' ? Number((number / 2 ** 30).toPrecision(4)) : number
}
