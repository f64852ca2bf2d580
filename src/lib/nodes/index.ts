/** What is asked of all nodes of a rack at once, with a report on each. */
export {overNodes} from './each.ts'
export {probeNodes, type Probe, type ProbeOptions} from './probe.ts'
export {throwIfAnyFailed, type NodeReport} from './report.ts'
export {addressForOthers, askRoute} from './route.ts'
export {showTopologies, type NodeTopology} from './topology.ts'
