/**
 * One entry of the head's own log, on stdout; the node's supervisor keeps and rotates it. Never given a token. What comes
 * from others may have lines of its own: they are indented, so that none looks like an entry.
 */
export function logLine(text: string): void {
  process.stdout.write(`${new Date().toISOString()} ${text.replaceAll(/\r\n?|\n|\u2028|\u2029/g, '\n  ')}\n`)
}
