import {isAlias, isMap, isSeq, type Document, type Node} from 'yaml'
import {keyName, rangeOf} from './convert.ts'
import type {Path, Span} from './types.ts'

/** Where the value (or the key) of a path stands; of the deepest parent that is there if it is not. */
export function findSpan(document: Document.Parsed, path: Path, what: 'key' | 'value'): Span {
  let node = document.contents as Node | null
  let key: unknown
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document) ?? null
    if (isSeq(node)) {
      const item = node.items[Number(part)] as Node | undefined
      if (!item) break
      key = item
      node = item
    } else if (isMap(node)) {
      const pair = node.items.find((item) => keyName(item.key) === String(part))
      if (!pair) return key ? rangeOf(key) : [0, 0]
      key = pair.key
      node = pair.value as Node | null
    } else break
  }
  if (key && (what === 'key' || !node)) return rangeOf(key)
  // A map or list has no place of its own that helps: its key has.
  if (key && (isMap(node) || isSeq(node)) && !node.flow) return rangeOf(key)
  return node && key ? rangeOf(node) : [0, 0]
}
