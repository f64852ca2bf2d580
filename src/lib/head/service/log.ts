/** One line of the head's own log, on stdout; the node's supervisor keeps and rotates it. Never given a token. */
export function logLine(text: string): void {
  process.stdout.write(`${new Date().toISOString()} ${text}\n`)
}
