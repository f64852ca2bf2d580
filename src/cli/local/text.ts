import {count} from '../../lib/base/index.ts'
import type {LocalDownResult, LocalStatus} from '../../lib/local/index.ts'
import {ago, fields, table} from '../terminal/render.ts'

export function localStatusText(status: LocalStatus): string {
  if (status.state === 'absent') return 'There is no local rack. Start one with: flexrack local up --nodes 3'
  const words = {
    running: `running (pid ${status.pid})`,
    stopped: 'stopped; start it with: flexrack local up',
    crashed: 'its process is gone; repair it with: flexrack local up',
  }
  const head = fields([
    ['local rack', words[status.state]],
    ['started', status.startedAt ? ago(status.startedAt) : undefined],
    ['rack file', status.state === 'running' ? status.rackFile : undefined],
    ['folder', status.folder],
  ])
  const rows = status.nodes.map((node) => ({
    node: node.name,
    address: `127.0.0.1:${node.port}`,
    processes: String(node.processes),
  }))
  return `${head}\n\n${table(rows, ['node', 'address', {key: 'processes', align: 'right'}])}`
}

export function localDownText(result: LocalDownResult): string {
  const ended = result.ended > 0 ? ` ${count(result.ended, 'process', 'processes')} on its nodes ended.` : ''
  return `The local rack is down.${ended}${result.purged ? ' Its homes, keys and environments are removed.' : ''}`
}
