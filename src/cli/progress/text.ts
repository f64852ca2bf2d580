import {count, sizeText} from '../../lib/base/index.ts'
import type {Progress} from '../../lib/base/index.ts'
import {duration} from '../terminal/render.ts'

/** The arguments of Progress.amount. */
export type Amount = Parameters<Progress['amount']>

/** What an amount looks like: `12.3 MiB of 40.0 MiB`, `3 of 32 nodes`, `12 files`, `4.0 s`. */
export function amountText([done, total, unit]: Amount): string {
  if (unit === 'bytes') return total === undefined ? sizeText(done) : `${sizeText(done)} of ${sizeText(total)}`
  if (unit === 'seconds')
    return total === undefined ? duration(done * 1000) : `${duration(done * 1000)} of ${duration(total * 1000)}`
  return total === undefined ? count(done, unit.slice(0, -1)) : `${done} of ${count(total, unit.slice(0, -1))}`
}

/** `node-1: Sync code`. */
export function titleText(title: string, node: string | undefined): string {
  return node === undefined ? title : `${node}: ${title}`
}
