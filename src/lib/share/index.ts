/** Folders of a node that one account shares with another. */
export {openShares, type Shares} from './shares.ts'
export {parseShareName, readPublicKey, shareEnd} from './words.ts'
export type {ShareWish} from './shares.ts'
