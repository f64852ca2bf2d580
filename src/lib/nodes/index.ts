/** What is done with the nodes of a rack as such: measure them, install and uninstall. */
export {probeNodes, type Probe, type ProbeOptions} from './probe.ts'
export {installNodes, planInstall, planUninstall, uninstallNodes, type Installed, type Uninstalled} from './install.ts'
export {throwIfAnyFailed, type NodeReport} from './report.ts'
export type {NodeFacts} from './facts.ts'
