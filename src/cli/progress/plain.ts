import {paintError, printError} from '../terminal/print.ts'
import {amountText, titleText, type Amount} from './text.ts'
import {duration} from '../terminal/render.ts'
import type {ScreenReporter} from './reporter.ts'

/** Work shorter than this is not worth a line. Milliseconds. */
const QUICK = 1000
/** Between two lines about the same piece of work. Milliseconds. */
const PERIOD = 10_000

/** The same where nothing happens but waiting. Milliseconds. */
const SELDOM = 60_000

/** Progress as lines: a line when work takes longer than a second, one every ten seconds, one at its end. */
export function openPlainReporter({quiet, stamped}: {quiet: boolean; stamped: boolean}): ScreenReporter {
  const print = (line: string): void => printError(stamped ? `${new Date().toISOString().slice(0, 19)}Z ${line}` : line)
  const say = quiet ? () => {} : print
  return {
    begin(title, node) {
      const name = titleText(title, node)
      const started = performance.now()
      let latest = ''
      let isSeldom = false
      let waitedSince: number | undefined // the last line was of waiting, and is that old
      let said = false
      let timer: NodeJS.Timeout | undefined
      const tell = (): void => {
        const isDue = !isSeldom || waitedSince === undefined || performance.now() - waitedSince >= SELDOM - 1
        if (!said || (latest !== '' && isDue)) {
          say(latest === '' ? `${name} ...` : `${name}: ${latest}`)
          waitedSince = isSeldom ? performance.now() : undefined
        }
        said = true
        latest = ''
        timer = setTimeout(tell, PERIOD).unref()
      }
      timer = setTimeout(tell, QUICK).unref()
      const end = (text: string): void => {
        clearTimeout(timer)
        if (said) say(`${text} (${duration(performance.now() - started)})`)
      }
      return {
        detail: (text, how) => {
          latest = text
          isSeldom = how?.seldom ?? false
        },
        amount: (...amount: Amount) => {
          latest = amountText(amount)
          isSeldom = false
        },
        done: (text) => end(text === undefined ? `${name}: done` : titleText(text, node)),
        fail: (text) => end(text === undefined ? `${name}: failed` : titleText(text, node)),
      }
    },
    note: (message) => say(message),
    warn: (message) => print(`${paintError.yellow('warning:')} ${message}`),
    suspend: (use) => use(),
  }
}
