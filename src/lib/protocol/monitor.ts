// What Prometheus is to watch, as the head keeps it. Generated from protocol/monitor.json by `npm run protocol`.

/** A group of Prometheus' http_sd; it goes away by itself at `until`, milliseconds since 1970. */
export interface HeadTargets {
  targets: string[]
  labels: Record<string, string>
  until?: number
}
