/** Where what is served comes from, and the same again. */
export {why} from './why.ts'
export {parentsOf} from './parents.ts'
export {compareWith, planReproduction, type Reproduction} from './reproduce.ts'
export type {ComparedAgain, MetricVerdict, OutputVerdict} from './compare.ts'
export type {Difference} from './differ.ts'
export {signModel, type SignedModel} from './sign.ts'
export type {EvidencePlace} from './evidence.ts'
export type {ArrowCheck, Why, WhyNode} from './types.ts'
