import {join} from 'node:path'
import type {HeadQuotas, QuotaLimits} from '../../../protocol/index.ts'
import {readDurable, Turns, writeDurably} from '../files/durable.ts'
import {QUOTAS_FILE} from './wish.ts'

/** What users, teams and projects may have: one file of the head, written whole. */
export class Quotas {
  readonly #file: string
  readonly #turns = new Turns()
  #all: HeadQuotas['quotas']

  private constructor(file: string, all: HeadQuotas['quotas']) {
    this.#file = file
    this.#all = all
  }

  static async open(folder: string): Promise<Quotas> {
    const file = join(folder, QUOTAS_FILE)
    const {quotas} = await readDurable<HeadQuotas>('head.quotas', file, {quotas: {}})
    return new Quotas(file, quotas)
  }

  /** By the names that quotas have. */
  get all(): HeadQuotas['quotas'] {
    return this.#all
  }

  /** Somebody has one. */
  get isLimited(): boolean {
    return Object.keys(this.#all).length > 0
  }

  /** Somebody's disk is limited. */
  get limitsDisk(): boolean {
    return Object.values(this.#all).some((one) => one.disk !== undefined)
  }

  /** Undefined: takes it away. Gives whether there was one. */
  set(of: string, limits: QuotaLimits | undefined): Promise<boolean> {
    return this.#turns.take(async () => {
      const {[of]: before, ...others} = this.#all
      const quotas = limits ? {...others, [of]: limits} : others
      await writeDurably('head.quotas', this.#file, {quotas} satisfies HeadQuotas)
      this.#all = quotas
      return before !== undefined
    })
  }
}
