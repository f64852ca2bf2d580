import {join} from 'node:path'
import {current, textIfThere} from '../../../base/index.ts'
import type {HeadAction} from '../../../protocol/index.ts'
import type {Entry} from './audit.ts'

/** What the page's log of before this one has. */
export async function formerActions(head: string): Promise<Entry[]> {
  const file = join(head, 'actions.jsonl')
  const lines = ((await textIfThere(file)) ?? '').split('\n')
  return lines.flatMap((line) => {
    try {
      const {owner, login, action, ...more} = current<HeadAction>('head.action', JSON.parse(line), file)
      return [{...more, who: 'page', says: owner, login, action: namedAction(action)}]
    } catch {
      return [] // half a line, of a head that was killed
    }
  })
}

/** An action of the page, as the log names it. */
export function namedAction(action: HeadAction['action']): string {
  return {stop: 'run.stop', rollback: 'endpoint.rollback', endNotebook: 'notebook.end'}[action as string] ?? action
}
