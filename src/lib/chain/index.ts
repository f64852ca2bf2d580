/** Lines that cannot be changed, left out or swapped unnoticed: each has the hash of the one before. Pure. */
export {chainHash, FIRST_HASH, link, readLink, type Link} from './link.ts'
export {checkChain, type Anchor, type ChainCheck} from './check.ts'
