/**
 * Who or what has a command end: the user, or that its terminal, or whoever reads its output, is not there any more.
 */
export type StopReason = 'user' | 'terminal' | 'reader'

const MESSAGES: Record<StopReason, string> = {
  user: 'interrupted',
  terminal: 'the terminal has gone',
  reader: 'the reader of the output has gone',
}

/** What `signal` of a context is aborted with. */
export class StopRequest extends DOMException {
  readonly by: StopReason

  constructor(by: StopReason) {
    super(MESSAGES[by], 'AbortError')
    this.by = by
  }
}

/**
 * Whether an aborted signal means that the user asked for the end. Where only the terminal or the reader is gone, work
 * that can go on alone does.
 */
export function isRequested({reason}: AbortSignal): boolean {
  return !(reason instanceof StopRequest) || reason.by === 'user'
}
