/** What Prometheus and Grafana need to watch a rack: settings, rules and dashboards as files. */
export {timedTargets} from './prometheus.ts'
export {emitMonitor, monitorFiles, requireOwnFolder, revokeMonitor, type EmittedMonitor} from './emit.ts'
