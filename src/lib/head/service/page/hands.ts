import {randomBytes} from 'node:crypto'
import type {PageAsk, PageAsks, PageHand, PageQuestion} from '../../types.ts'
import {Failure} from '../failure.ts'
import {Held} from '../held.ts'

/** A question for questions is answered by then in any case. Milliseconds. */
const LONGEST_WAIT_MS = 20_000
/** Who asked for questions within this time is there. */
const HEARD_MS = LONGEST_WAIT_MS + 10_000
const ANSWER_MS = 30_000
/** More wait for nobody: then it does not answer. */
const MOST_ASKED = 64

interface Hand extends PageHand {
  login: string
  heardAt: number
  /** Not handed out yet. */
  questions: PageQuestion[]
  held: Held
}

interface Asked {
  login: string
  resolve(value: unknown): void
  reject(error: Error): void
}

/**
 * Those that have the page open: each `head ui` reaches the nodes as whoever runs it does, which the head does not. It asks
 * for questions, and brings the answers. What a browser wants done is asked of the `head ui` that has let it in, of no
 * other: nothing is done with anybody else's rights.
 */
export class Hands {
  readonly #hands = new Map<string, Hand>()
  readonly #asked = new Map<string, Asked>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Who it is, while it goes on. */
  find(login: string): PageHand | undefined {
    const hand = this.#hands.get(login)
    return hand && this.#isThere(hand) ? hand : undefined
  }

  /** The questions for a `head ui`, as soon as there are some; none at the end of `waitMs`. */
  async next(login: string, who: PageHand, waitMs: number, gone: AbortSignal): Promise<PageQuestion[]> {
    for (const [name, one] of this.#hands) if (!this.#isThere(one)) this.end(name)
    const hand = Object.assign(this.#hands.get(login) ?? {login, questions: [], held: new Held()}, {
      ...who,
      heardAt: this.#now(),
    }) as Hand
    this.#hands.set(login, hand)
    if (hand.questions.length === 0 && waitMs > 0) await hand.held.wait(Math.min(waitMs, LONGEST_WAIT_MS), gone)
    hand.heardAt = this.#now()
    return gone.aborted ? [] : hand.questions.splice(0)
  }

  /** What came of a question. False where nobody waits for it any more. */
  answer(login: string, id: string, answer: {value?: unknown; error?: {code: string; message: string}}): boolean {
    const asked = this.#asked.get(id)
    if (asked?.login !== login) return false
    this.#asked.delete(id)
    if (answer.error) asked.reject(new Failure(502, answer.error.code, answer.error.message))
    else asked.resolve(answer.value)
    return true
  }

  /** Asks one `head ui`. Errors: 503 where it is gone or does not answer in time, 502 with what it says. */
  ask<A extends PageAsk>(login: string, ask: A, input: PageAsks[A]['input']): Promise<PageAsks[A]['answer']> {
    const hand = this.#hands.get(login)
    if (!hand || !this.#isThere(hand))
      return Promise.reject(
        new Failure(503, 'HEAD_FAILED', 'the flexrack head ui that opened this page does not answer'),
      )
    if (hand.questions.length >= MOST_ASKED)
      return Promise.reject(new Failure(503, 'HEAD_FAILED', 'the flexrack head ui that opened this page is too slow'))
    const id = randomBytes(9).toString('base64url')
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#asked.delete(id)
        hand.questions = hand.questions.filter((one) => one.id !== id)
        reject(new Failure(503, 'HEAD_FAILED', 'the nodes have not answered in time'))
      }, ANSWER_MS)
      const over = (): void => clearTimeout(timer)
      this.#asked.set(id, {
        login,
        resolve: (value) => (over(), resolve(value as PageAsks[A]['answer'])),
        reject: (error) => (over(), reject(error)),
      })
      hand.questions.push({id, ask, input})
      hand.held.wake()
    })
  }

  /** Asks any of those that see the same. Errors: as ask, of the last one. */
  async askAny<A extends PageAsk>(view: string, ask: A, input: PageAsks[A]['input']): Promise<PageAsks[A]['answer']> {
    // The one heard last first: what does not answer any more goes behind what does.
    const there = [...this.#hands.values()].filter((one) => one.view === view && this.#isThere(one))
    there.sort((a, b) => b.heardAt - a.heardAt)
    let last: unknown = new Failure(503, 'HEAD_FAILED', 'no flexrack head ui is there to ask the nodes')
    for (const {login} of there.slice(0, 2)) {
      try {
        return await this.ask(login, ask, input)
      } catch (error) {
        last = error
        if (error instanceof Failure && error.status === 502) throw error
      }
    }
    throw last
  }

  end(login: string): void {
    this.#hands.get(login)?.held.wake()
    this.#hands.delete(login)
    for (const [id, one] of this.#asked) {
      if (one.login !== login) continue
      this.#asked.delete(id)
      one.reject(new Failure(503, 'HEAD_FAILED', 'the flexrack head ui that opened this page has ended'))
    }
  }

  #isThere(hand: Hand): boolean {
    return this.#now() - hand.heardAt < HEARD_MS
  }
}
