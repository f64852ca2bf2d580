/** Who may have a quota: `user:alice`, `user:*` (each user), `team:vision`, `project:digits`. Here and at the head. */
export function isQuotaName(name: string): boolean {
  return name === 'user:*' || /^(user|team|project):[A-Za-z0-9][\w.-]{0,99}$/.test(name)
}
