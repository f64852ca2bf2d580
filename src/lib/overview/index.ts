/** What a rack does right now, over all its parts: nodes, head, runs, endpoints. */
export {busyShare} from './busy.ts'
export {idleGpus, type IdleGpus} from './idle.ts'
export {readGpuUse, readOverview} from './read.ts'
export type {GpuUse, HeadSummary, NodeSummary, Overview} from './types.ts'
