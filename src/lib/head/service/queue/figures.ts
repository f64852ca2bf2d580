import {Histogram} from '../releases/histogram.ts'

/** Requests that are sent a second time, of all: what is more would double the load of servers that fail. */
const RETRIED_PART = 0.2
/** So many at once, where there were few before. */
const MOST_RETRIES = 20

/** Why a request was not sent. */
export type Refusal = 'full' | 'age' | 'deadline'

/** What became of an endpoint's requests before they were sent, since the head was started. */
export class QueueFigures {
  /** Of those that waited and were sent. */
  readonly waited = new Histogram()
  readonly refused: Record<Refusal, number> = {full: 0, age: 0, deadline: 0}
  /** Sent once more, after the connection broke. */
  retries = 0
  #budget = MOST_RETRIES

  /** A request has come: it brings a part of a retry. */
  enter(): void {
    if (this.#budget < MOST_RETRIES) this.#budget = Math.min(MOST_RETRIES, this.#budget + RETRIED_PART)
  }

  /** False where too many of the endpoint's requests were sent twice lately. */
  retry(): boolean {
    if (this.#budget < 1) return false
    this.#budget--
    return this.sentAgain()
  }

  sentAgain(): true {
    this.retries++
    return true
  }
}
