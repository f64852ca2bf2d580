/** What is asked of all nodes of a rack at once, or done there, with a report on each. */
export {carryOutOver, type NodesPlan} from './carry-out.ts'
export {overNodes} from './each.ts'
export {probeNodes, type Probe, type ProbeOptions} from './probe.ts'
export {reportsOf, throwIfAnyFailed, type NodeReport} from './report.ts'
export {showTopologies, type NodeTopology} from './topology.ts'
