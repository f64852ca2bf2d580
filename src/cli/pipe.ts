/** What happens when the reader of our output has gone away (`flexrack ... | head -1`): by default, leave quietly. */
let onClosed: () => void = () => process.exit(0)

/** oclif swallows EPIPE, so that an endless follow would never end; this ends it. Called once, at the start. */
export function watchPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // EIO: the terminal itself has gone.
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
      closed = true
      onClosed()
    })
  }
}

let closed = false

export function isPipeClosed(): boolean {
  return closed
}

/** Replaces what happens: a command with a context stops gracefully. */
export function onPipeClosed(listener: () => void): void {
  onClosed = listener
}
