import {count, sizeText} from '../../lib/base/index.ts'
import type {CheckResult, Finding} from '../../lib/project/index.ts'
import {mendedText} from './mended-text.ts'
import {shownPath} from '../terminal/path.ts'
import {preflightText} from '../train/preflight-text.ts'
import {paint} from '../terminal/print.ts'

export function checkText({checked, findings, preflight, mended}: CheckResult): string {
  const all = [...findings, ...(preflight?.findings ?? [])]
  const errors = all.filter((finding) => finding.severity === 'error').length
  const looked = [
    checked.manifest && shownPath(checked.manifest),
    checked.rack && shownPath(checked.rack),
    checked.nodes.length > 0 && count(checked.nodes.length, 'node'),
    checked.head && `the head at ${checked.head}`,
  ]
  const pythons = checked.pythons?.length
    ? [`Environments of this project will have ${pythonsText(checked.pythons)}.`]
    : []
  const volumes =
    checked.volumes?.map((one) =>
      paint.dim(
        `Volume ${one.name} on ${one.node}: ${one.trouble ?? `${one.path} on ${one.type || 'an unknown file system'}, ${sizeText(one.free)} of ${sizeText(one.total)} free${one.quota ? `, quota ${sizeText(one.quota.used)} of ${sizeText(one.quota.limit)}` : ''}`}`,
      ),
    ) ?? []
  const inside = checked.inside?.length ? [insideText(checked.inside)] : []
  const summary = errors > 0 ? `${count(errors, 'error')}` : 'Nothing here would stop a run'
  const warnings = all.length - errors
  const closing = `${summary}${warnings > 0 ? `, ${count(warnings, 'warning')}` : ''} (looked at ${looked.filter(Boolean).join(', ') || 'nothing'}).`
  const goOn = checked.goOn
    ? [
        paint.dim(
          `${checked.goOn.length === 1 ? 'Run' : 'Runs'} ${checked.goOn.join(', ')} would go on after a reboot.`,
        ),
      ]
    : []
  return [
    ...(mended ? [mendedText(mended)] : []),
    ...findings.map(findingText),
    ...(preflight ? [preflightText(preflight)] : []),
    ...pythons,
    ...inside,
    ...(volumes.length > 0 ? [volumes.join('\n')] : []),
    ...goOn,
    closing,
  ].join('\n\n')
}

/** `Python 3.12.4 on a, b; Python 3.12, which uv will install, on c`. */
function pythonsText(pythons: NonNullable<CheckResult['checked']['pythons']>): string {
  const groups = Map.groupBy(
    pythons,
    ({version, by}) =>
      `Python ${version}${by === 'uv' ? ', which uv will install,' : by === 'flexrack' ? ', which uv has installed,' : ''}`,
  )
  return [...groups].map(([python, nodes]) => `${python} on ${nodes.map(({node}) => node).join(', ')}`).join('; ')
}

/** What runs the project's image or sandbox, and how its limits hold. */
function insideText(inside: NonNullable<CheckResult['checked']['inside']>): string {
  const ways = {cgroup: 'a cgroup', systemd: "the account's systemd", process: 'limits of each process'}
  const groups = Map.groupBy(
    inside,
    ({engine, limits}) =>
      `${engine ?? 'bubblewrap, which comes with the next workspace up'}${limits ? `; memory by ${ways[limits.memory]}, processes by ${ways[limits.pids]}, CPUs by ${limits.cpus === 'process' ? 'which they run on' : ways[limits.cpus]}` : ''}`,
  )
  return `This project runs inside ${[...groups].map(([what, nodes]) => `${what} (on ${nodes.map(({node}) => node).join(', ')})`).join('; ')}.`
}

function findingText(finding: Finding): string {
  const {severity, node, file, line, column, message, excerpt, fix} = finding
  const place = file === undefined ? node : `${shownPath(file)}:${line}:${column}`
  const word = severity === 'error' ? paint.red('error') : paint.yellow('warning')
  const lines = [`${word} ${place === undefined ? '' : `${place}: `}${message}`]
  if (excerpt !== undefined) lines.push(...excerpt.split('\n').map((one) => `  ${paint.dim(one)}`))
  if (fix !== undefined) lines.push(`  ${paint.cyan('fix:')} ${fix}`)
  return lines.join('\n')
}
