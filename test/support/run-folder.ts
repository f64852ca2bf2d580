import {mkdirSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'

/**
 * The folder of a run that is over, as its supervisor leaves it on a node of a local rack, but for `parts`; without
 * logs. Returns the folder.
 */
export function layRun(
  home: string,
  run: string,
  nodes: string[],
  index: number,
  processes: number,
  parts: {spec?: object; state?: object; result?: object | null} = {},
): string {
  const node = nodes[index] as string
  const folder = join(home, 'state/local/nodes', node, 'home/.flexrack/runs', run)
  rmSync(folder, {recursive: true, force: true})
  mkdirSync(join(folder, 'attempts/1'), {recursive: true})
  const seconds = Date.now() / 1000
  const spec = {
    run,
    project: 'bench',
    node,
    index,
    nodes,
    processes,
    launcher: 'plain',
    command: ['true'],
    created: seconds,
    ...parts.spec,
  }
  const result = {
    status: 'finished',
    exit: 0,
    cause: null,
    attempts: [{attempt: 1, status: 'finished'}],
    started: seconds,
    ended: seconds,
    duration: 0,
    recorded: true,
    outputs: [],
    ...parts.result,
  }
  writeFileSync(join(folder, 'spec.json'), JSON.stringify(spec))
  writeFileSync(join(folder, 'state.json'), JSON.stringify({status: 'finished', attempt: 1, ...parts.state}))
  if (parts.result !== null) writeFileSync(join(folder, 'result.json'), JSON.stringify(result))
  writeFileSync(join(folder, 'lock'), '')
  return folder
}
