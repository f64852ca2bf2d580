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

/**
 * Until all that was written to stdout and stderr has left this process: process.exit drops what a pipe or a socket has
 * not taken yet, which is what is beyond its buffer (64 to 200 KiB) where the reader is slower than we are. Who waits
 * for a reader that never reads waits as with any other program.
 */
export async function allWritten(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (!closed && stream.writableLength > 0) await new Promise<void>((resolve) => stream.write('', () => resolve()))
  }
}
