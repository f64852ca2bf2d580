/** How the parts of one machine are wired: pure, from the facts that its node program tells. */
export {parseCpus} from './cpus.ts'
export {findBadWiring} from './bad-wiring.ts'
export {linkRank, linkText} from './link.ts'
export {linkBetween, readTopology} from './read.ts'
export type {BadWiring, GpuPlace, Link, LinkKind, NicPlace, NumaPlace, Topology} from './types.ts'
