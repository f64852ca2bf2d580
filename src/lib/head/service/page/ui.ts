import {Hands} from './hands.ts'
import {LivePages} from './live.ts'
import {Streams} from './stream.ts'
import type {Tail} from './tail.ts'
import {Topics} from './topics.ts'

/** What the rack's page keeps while the head runs: who has it open, and what is watched. Nothing of it is stored. */
export class Ui {
  readonly hands = new Hands()
  readonly topics = new Topics()
  readonly tails = new Map<string, Tail>()
  readonly trying = new Set<string>()
  readonly streams = new Streams(new LivePages())

  /** A `head ui` has ended. */
  endLogin(login: string): void {
    this.hands.end(login)
    this.streams.end(login)
  }

  /** The head ends. */
  end(): void {
    this.streams.endAll()
  }
}
