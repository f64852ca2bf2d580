export {openFleet} from './fleet.ts'
export {forEachNode} from './parallel.ts'
export {quote} from './quote.ts'
export type * from './types.ts'
