import type {Progress, Reporter} from '../base/index.ts'

/** What the one who starts tells first. */
export interface Order<T> {
  name: string
  project: string
  log: string
  order: T
}

/** What a background command tells who has started it, until it goes on alone. */
export type Reported = Said | {reported: 'begun'} | {reported: 'over'} | {reported: 'failed'; error: ReportedError}

/** A CliError on its way. */
export interface ReportedError {
  code: string
  message: string
  hint?: string | undefined
  details: Record<string, unknown>
  exitCode: number
}

/** A call of a Reporter. */
type Said =
  | {reported: 'note'; text: string}
  | {reported: 'warn'; text: string}
  | {reported: 'begin'; id: number; title: string; node: string | undefined}
  | {reported: 'detail' | 'done' | 'fail'; id: number; text: string | undefined}
  | {reported: 'amount'; id: number; amount: Parameters<Progress['amount']>}

/** Reports to `own` and tells the same. */
export function tellingReporter(own: Reporter, tell: (said: Said) => void): Reporter {
  let last = 0
  return {
    begin(title, node) {
      const [id, progress] = [++last, own.begin(title, node)]
      tell({reported: 'begin', id, title, node})
      const telling =
        (reported: 'detail' | 'done' | 'fail') =>
        (text?: string): void => {
          progress[reported](text as string)
          tell({reported, id, text})
        }
      return {
        detail: telling('detail'),
        done: telling('done'),
        fail: telling('fail'),
        amount(...amount) {
          progress.amount(...amount)
          tell({reported: 'amount', id, amount})
        },
      }
    },
    note(text) {
      own.note(text)
      tell({reported: 'note', text})
    },
    warn(text) {
      own.warn(text)
      tell({reported: 'warn', text})
    },
  }
}

/** Reports what a tellingReporter tells. `close()`: what is still open goes on unseen. */
export function replay(reporter: Reporter): {hear(said: Said): void; close(): void} {
  const open = new Map<number, Progress>()
  return {
    hear(said) {
      if (said.reported === 'note' || said.reported === 'warn') reporter[said.reported](said.text)
      else if (said.reported === 'begin') open.set(said.id, reporter.begin(said.title, said.node))
      else if (said.reported === 'amount') open.get(said.id)?.amount(...said.amount)
      else {
        open.get(said.id)?.[said.reported](said.text as string)
        if (said.reported !== 'detail') open.delete(said.id)
      }
    },
    close() {
      for (const one of open.values()) one.done()
      open.clear()
    },
  }
}
