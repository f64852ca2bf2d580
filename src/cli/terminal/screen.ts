/** True where a panel or a full screen can be drawn. */
export function hasScreen(): boolean {
  return process.stdout.isTTY && process.env.TERM !== 'dumb'
}
