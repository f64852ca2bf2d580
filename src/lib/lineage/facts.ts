import type {RecordedCode, RecordedEnvironment, RunRecord} from '../protocol/index.ts'
import type {ModelVersion, TrackedRun} from '../tracking/index.ts'
import {short} from './checks.ts'
import type {ServedRelease, WhyNode} from './types.ts'

type Facts = WhyNode['facts']

/** What people read of each; all of them are pure. */
export function releaseFacts({by, createdAt, runtime, nodes}: ServedRelease): Facts {
  return [
    ['deployed', `${createdAt} by ${by}`],
    ['server', `${runtime} on ${nodes.join(', ')}`],
  ]
}

export function modelFacts({tags, createdAt}: ModelVersion): Facts {
  const sha256 = tags['flexrack.sha256']
  return [
    ['registered', new Date(createdAt).toISOString()],
    ...(tags['flexrack.path'] === undefined ? [] : ([['file', tags['flexrack.path']]] as Facts)),
    ...(sha256 === undefined ? [] : ([['sha256', sha256]] as Facts)),
  ]
}

export function runFacts(run: TrackedRun, record: RunRecord | undefined): Facts {
  if (!record)
    return [
      ['started', `${new Date(run.startTime).toISOString()} by ${run.user}`],
      ...(run.tags['flexrack.command'] === undefined ? [] : ([['command', run.tags['flexrack.command']]] as Facts)),
    ]
  const {origin, nodes, seeds, attempts} = record
  const drivers = [...new Set(nodes.flatMap((one) => one.driver ?? []))]
  const resumed = attempts.findLast((one) => one.checkpoint !== null)
  const facts: Facts = [
    [
      'started',
      `${new Date(record.started * 1000).toISOString()} by ${record.user}${origin ? ` on ${origin.machine}` : ''}`,
    ],
    ['command', record.command.join(' ')],
    ['nodes', nodes.map((one) => one.node).join(', ')],
  ]
  if (drivers.length > 0) facts.push(['driver', drivers.join(', ')])
  if (Object.keys(seeds).length > 0)
    facts.push([
      'seeds',
      Object.entries(seeds)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    ])
  facts.push(['status', `${record.status}, ${attempts.length} attempt${attempts.length === 1 ? '' : 's'}`])
  if (resumed) facts.push(['resumed', `from checkpoint ${resumed.checkpoint} in attempt ${resumed.attempt}`])
  if (origin) facts.push(['flexrack', origin.version])
  const digests = new Set(nodes.map((one) => one.code))
  if (digests.size > 1) facts.push(['code', 'differs between its nodes'])
  return facts
}

export function codeFacts({commit, files, left_out: left}: RecordedCode): Facts {
  return [
    ['files', String(files)],
    ...(commit === null ? [] : ([['commit', commit]] as Facts)),
    ...(left.length === 0 ? [] : ([['not kept', left.map(([path]) => path).join(', ')]] as Facts)),
  ]
}

export function environmentFacts({python, packages, lock}: RecordedEnvironment): Facts {
  return [...(python === null ? [] : ([['python', python]] as Facts)), ['packages', `${packages}, lock ${short(lock)}`]]
}
