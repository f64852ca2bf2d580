import {anchorText, type AuditCheck} from '../../lib/audit/index.ts'
import type {HeadAudit} from '../../lib/protocol/index.ts'
import {oneLine} from '../terminal/printable.ts'
import {table} from '../terminal/render.ts'

export function auditText(lines: HeadAudit[]): string {
  if (lines.length === 0) return 'Nothing of that was changed or refused.'
  const rows = lines.map(({seq, at, who, says, action, target, outcome, error, times}) => ({
    seq: String(seq),
    when: new Date(at).toISOString().slice(0, 19).replace('T', ' '),
    who: oneLine(says === undefined ? who : `${says} (${who})`),
    action: oneLine(action),
    target: oneLine(target),
    result: oneLine(
      error === undefined ? (outcome ?? '') : `refused: ${error}${times === undefined ? '' : ` (${times} times more)`}`,
    ),
  }))
  return table(rows, ['seq', {key: 'when', title: 'WHEN (UTC)'}, 'who', 'action', 'target', 'result'])
}

export function checkText({rack, lines, first, last, faults, anchors}: AuditCheck): string {
  if (faults.length > 0)
    return [`The log of rack ${rack} is not what was written:`, ...faults.map(({what}) => `  ${what}`)].join('\n')
  if (!last) return `The log of rack ${rack} is empty.`
  const seen =
    anchors.length === 0
      ? 'Nothing was seen from here before, so a cut end would not be noticed.'
      : 'It goes on from what was seen here before.'
  return [
    `The log of rack ${rack} is whole: lines ${first} to ${last.seq} (${lines}), each after the one before. ${seen}`,
    `Its end, to be kept elsewhere: ${anchorText(last)}`,
  ].join('\n')
}
