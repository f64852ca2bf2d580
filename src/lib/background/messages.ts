import type {Progress, Reporter} from '../base/index.ts'

/** What the one who starts tells first. */
export interface Order<T> {
  name: string
  project: string
  log: string
  order: T
}

/** What a background command tells who has started it, until it goes on alone. */
export type Told = Said | {told: 'begun'} | {told: 'over'} | {told: 'failed'; error: ToldError}

/** A CliError on its way. */
export interface ToldError {
  code: string
  message: string
  hint?: string | undefined
  details: Record<string, unknown>
  exitCode: number
}

/** A call of a Reporter. */
type Said =
  | {told: 'note'; text: string}
  | {told: 'warn'; text: string}
  | {told: 'begin'; id: number; title: string; node: string | undefined}
  | {told: 'detail' | 'done' | 'fail'; id: number; text: string | undefined}
  | {told: 'amount'; id: number; amount: Parameters<Progress['amount']>}

/** Reports to `own` and tells the same. */
export function tellingReporter(own: Reporter, tell: (said: Said) => void): Reporter {
  let last = 0
  return {
    begin(title, node) {
      const [id, progress] = [++last, own.begin(title, node)]
      tell({told: 'begin', id, title, node})
      const telling = (told: 'detail' | 'done' | 'fail') => (text?: string): void => {
        progress[told](text as string)
        tell({told, id, text})
      }
      return {
        detail: telling('detail'), done: telling('done'), fail: telling('fail'),
        amount(...amount) {
          progress.amount(...amount)
          tell({told: 'amount', id, amount})
        },
      }
    },
    note(text) {
      own.note(text)
      tell({told: 'note', text})
    },
    warn(text) {
      own.warn(text)
      tell({told: 'warn', text})
    },
  }
}

/** Reports what a tellingReporter tells. `close()`: what is still open goes on unseen. */
export function replay(reporter: Reporter): {hear(said: Said): void; close(): void} {
  const open = new Map<number, Progress>()
  return {
    hear(said) {
      if (said.told === 'note' || said.told === 'warn') reporter[said.told](said.text)
      else if (said.told === 'begin') open.set(said.id, reporter.begin(said.title, said.node))
      else if (said.told === 'amount') open.get(said.id)?.amount(...said.amount)
      else {
        open.get(said.id)?.[said.told](said.text as string)
        if (said.told !== 'detail') open.delete(said.id)
      }
    },
    close() {
      for (const one of open.values()) one.done()
      open.clear()
    },
  }
}
