import {count, sizeText} from '../../lib/base/index.ts'
import type {ShownRun, Uploaded} from '../../lib/runs/index.ts'
import {paint} from '../terminal/print.ts'

/** `runs upload`. */
export function uploadedText({run, nodes, finished}: Uploaded): string {
  const lines = nodes.flatMap(({node, uploads}) => uploads.map((one) => `${node}: ${line(one)}`))
  return [...lines, ...(finished ? [`Run ${run} has finished.`] : [])].join('\n')
}

/** For `runs show`; empty where nothing goes to buckets. */
export function uploadsText({run, uploads}: Pick<ShownRun, 'run' | 'uploads'>): string {
  return uploads
    .flatMap(({node, status, why, uploads: done}) => {
      if (status === 'done') return done.map((one) => `uploaded from ${node}: ${line(one)}`)
      if (status === 'running') return [`${node} is copying what its ranks left to buckets`]
      return [
        paint.yellow(`what ${node} has left was not uploaded: ${why ?? 'it was killed'}`),
        `  once more: flexrack runs upload ${run}`,
      ]
    })
    .join('\n')
}

function line({to, files, bytes: size, links}: Uploaded['nodes'][number]['uploads'][number]): string {
  return `${count(files, 'file')}, ${sizeText(size)}, to ${to}${links > 0 ? `; ${count(links, 'link')} left out` : ''}`
}
