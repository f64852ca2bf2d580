/** How lib tells of progress. The terminal implements it (src/cli/progress); lib never prints. */
export interface Reporter {
  /** Begins a piece of work that may take longer than a second. `node` is the node it happens on, if one. */
  begin(title: string, node?: string): Progress
  /** One line of information worth keeping on the screen. */
  note(message: string): void
  /** Something the user should know that does not stop the work. */
  warn(message: string): void
}

export interface Progress {
  /**
   * What is happening right now; replaces the last detail. `seldom`: it lasts, and where lines stay it need not be told
   * again and again.
   */
  detail(text: string, how?: {seldom: boolean}): void
  /** How much is done: bytes, files, nodes, or seconds. `total` undefined where it is not known. */
  amount(done: number, total: number | undefined, unit: 'bytes' | 'files' | 'nodes' | 'seconds'): void
  /** Ends well; `text` replaces the title. */
  done(text?: string): void
  /** Ends badly; `text` replaces the title. The error itself is thrown, not reported. */
  fail(text?: string): void
}

/**
 * Tells of a piece of work from its beginning to its end, well or badly. `said`: what replaces the title once it ended
 * well.
 */
export async function withProgress<T>(
  reporter: Reporter,
  [title, node]: [title: string, node?: string],
  work: (progress: Progress) => Promise<T>,
  said?: (answer: T) => string,
): Promise<T> {
  const progress = reporter.begin(title, node)
  try {
    const answer = await work(progress)
    progress.done(said?.(answer))
    return answer
  } catch (error) {
    progress.fail()
    throw error
  }
}

/** Reports nothing: for tests and library use. */
export const silentReporter: Reporter = {
  begin: () => ({detail() {}, amount() {}, done() {}, fail() {}}),
  note() {},
  warn() {},
}
