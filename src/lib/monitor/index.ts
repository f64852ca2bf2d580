/** What Prometheus and Grafana need to watch a rack: settings, rules and dashboards as files. */
export {emitMonitor, monitorFiles, revokeMonitor, type EmittedMonitor} from './emit.ts'
