import {count, sizeText} from '../../lib/base/index.ts'
import type {EditorLeft} from '../../lib/protocol/index.ts'
import {table} from '../terminal/render.ts'

export type NodeEditor = EditorLeft & {node: string}

export const EDITORS = ['vscode', 'cursor', 'windsurf', 'zed', 'jetbrains'] as const

/** `workspace editors`. */
export function editorsText(found: readonly NodeEditor[]): string {
  if (found.length === 0) return 'No editor has left anything on these nodes.'
  const rows = found.map(({node, editor, path, bytes: size, processes, removed}) => ({
    NODE: node,
    EDITOR: editor,
    SIZE: sizeText(size),
    STATE: removed
      ? 'removed'
      : processes.length > 0
        ? `runs (${count(processes.length, 'process', 'processes')})`
        : 'not running',
    PATH: path,
  }))
  return table(rows, ['NODE', 'EDITOR', 'SIZE', 'STATE', 'PATH'])
}
