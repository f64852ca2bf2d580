export {openFleet} from './fleet.ts'
export {forEachNode, Slots} from './parallel.ts'
export {quote} from './quote.ts'
export type * from './types.ts'
