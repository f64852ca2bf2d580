/** What a rack does right now, over all its parts: nodes, head, runs, endpoints. */
export {readOverview} from './read.ts'
export type {HeadSummary, NodeSummary, Overview} from './types.ts'
