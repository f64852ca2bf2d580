import {target, type Topic} from './schema.ts'

/**
 * The number of every kind of file that outlives its writer, for those who read and write them: base/stored in both
 * languages.
 */
export function pythonFiles(topics: ReadonlyMap<string, Topic>): string {
  const lines = numbers(topics).map(([kind, schema]) => `    "${kind}": ${schema},\n`)
  return `"""Kinds of files that outlive their writer, and the number of their shape today. Generated from protocol/ by \`npm run protocol\`."""\n\nSCHEMAS = {\n${lines.join('')}}\n`
}

export function typescriptFiles(topics: ReadonlyMap<string, Topic>): string {
  const lines = numbers(topics).map(([kind, schema]) => `  '${kind}': ${schema},\n`)
  return `/** Kinds of files that outlive their writer, and the number of their shape today. Generated from protocol/ by \`npm run protocol\`. */\nexport const SCHEMAS = {\n${lines.join('')}} as const\n`
}

/** Readers and writers of files, typed by their kind. */
const CALLS = {
  Read: (kind: string, type: string) => `def __call__(self, kind: ${kind}, path: Path) -> Optional[${type}]: ...`,
  ReadCurrent: (kind: string, type: string) =>
    `def __call__(self, kind: ${kind}, path: Path) -> Optional[${type}]: ...`,
  Write: (kind: string, type: string) =>
    `def __call__(self, kind: ${kind}, path: Path, value: ${type}, durable: bool = True) -> None: ...`,
  Current: (kind: string, type: string) =>
    `def __call__(self, kind: ${kind}, value: Any, path: Union[Path, str]) -> ${type}: ...`,
  Line: (kind: string, type: string) => `def __call__(self, kind: ${kind}, value: ${type}) -> bytes: ...`,
  ReadLine: (kind: string, type: string) =>
    `def __call__(self, kind: ${kind}, text: Union[bytes, str], path: Union[Path, str]) -> Optional[${type}]: ...`,
}
const OF_LINES = ['Line', 'ReadLine']

/**
 * What node/flexrack_node/base/stored.py and its users are, for type checkers. Of the head's and the command line's
 * files the node reads one.
 */
export function pythonCalls(topics: ReadonlyMap<string, Topic>): string {
  const kinds = [...topics]
    .flatMap(([name, topic]) =>
      Object.entries(topic.files ?? {}).map(([kind, {content, lines}]) => ({
        kind,
        owner: name,
        lines: lines === true,
        ...target(content.$ref ?? '', name),
      })),
    )
    .filter(({kind, owner}) => owner !== 'headfiles' || kind === 'head.listener')
    .sort((a, b) => (a.kind < b.kind ? -1 : 1))
  const owners = [...new Set(kinds.map((one) => one.topic))].sort()
  const imports = owners.map((owner) => {
    const names = [...new Set(kinds.filter((one) => one.topic === owner).map((one) => one.name))].sort()
    const line = `from flexrack_node.schema.${owner} import ${names.join(', ')}\n`
    return line.length > 200
      ? `from flexrack_node.schema.${owner} import (\n${names.map((name) => `    ${name},\n`).join('')})\n`
      : line
  })
  const calls = Object.entries(CALLS).map(([call, of]) => {
    const own = kinds.filter((one) => one.lines === OF_LINES.includes(call) || call === 'Current')
    return `class ${call}(Protocol):\n${own.map(({kind, name}) => `    @overload\n    ${of(`Literal["${kind}"]`, name)}\n`).join('')}`
  })
  return `"""Files by their kinds, for type checkers alone: what reading one gives, what writing one takes. Generated from protocol/ by \`npm run protocol\`."""
from pathlib import Path
from typing import Any, Literal, Optional, Protocol, Union, overload

${imports.join('')}

${calls.join('\n\n')}`
}

/** Of the files that the GPU daemon writes and reads. */
export function nativeFiles(topics: ReadonlyMap<string, Topic>): string {
  const lines = numbers(topics)
    .filter(([kind]) => NATIVE.includes(kind))
    .map(([kind, schema]) => `inline constexpr int k${words(kind)}Schema = ${schema};\n`)
  return `// The number of the shape of each file that outlives the daemon. Generated from protocol/ by \`npm run protocol\`.
#pragma once

namespace flexrack::server {

${lines.join('')}
}  // namespace flexrack::server
`
}

const NATIVE = ['gpu.address', 'gpu.leases']

function words(kind: string): string {
  return kind
    .split('.')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
}

function numbers(topics: ReadonlyMap<string, Topic>): [string, number][] {
  return [...topics.values()]
    .flatMap((topic) => Object.entries(topic.files ?? {}).map(([kind, {schema}]): [string, number] => [kind, schema]))
    .sort(([a], [b]) => (a < b ? -1 : 1))
}
