import type {EmittedMonitor} from '../../lib/monitor/index.ts'
import {paint} from '../terminal/print.ts'

/** `monitor emit`: what is where, and what to do next. */
export function emittedText({folder, files, head}: EmittedMonitor): string {
  return [
    `${paint.bold(folder)}\n${files.map((file) => `  ${file}`).join('\n')}`,
    head.target === null
      ? paint.yellow(`The head is not watched: ${head.why}. Once it runs: flexrack monitor emit --to ${folder}`)
      : `The head is read at ${head.target}, with a token of its own.`,
    [
      `next: prometheus --config.file ${folder}/prometheus.yml`,
      `      copy grafana/dashboards to /var/lib/grafana/flexrack, and grafana/provisioning to /etc/grafana/provisioning`,
    ].join('\n'),
  ].join('\n\n')
}

export function plannedText({folder, files}: {folder: string; files: string[]}): string {
  return `${files.length} files and the head's token would be written to ${folder}:\n${files.map((file) => `  ${file}`).join('\n')}\n\nnothing was changed (--dry-run).`
}
