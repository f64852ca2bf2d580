/** Where what is served comes from, and the same again. */
export {why} from './why.ts'
export type {EvidencePlace} from './evidence.ts'
export type {ArrowCheck, Why, WhyNode} from './types.ts'
