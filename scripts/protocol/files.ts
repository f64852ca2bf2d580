import type {Topic} from './schema.ts'

/** The number of every kind of file that outlives its writer, for those who read and write them: base/stored in both languages. */
export function pythonFiles(topics: ReadonlyMap<string, Topic>): string {
  const lines = numbers(topics).map(([kind, schema]) => `    "${kind}": ${schema},\n`)
  return `"""Kinds of files that outlive their writer, and the number of their shape today. Generated from protocol/ by \`npm run protocol\`."""\n\nSCHEMAS = {\n${lines.join('')}}\n`
}

export function typescriptFiles(topics: ReadonlyMap<string, Topic>): string {
  const lines = numbers(topics).map(([kind, schema]) => `  '${kind}': ${schema},\n`)
  return `/** Kinds of files that outlive their writer, and the number of their shape today. Generated from protocol/ by \`npm run protocol\`. */\nexport const SCHEMAS = {\n${lines.join('')}} as const\n`
}

/** Of the files that the GPU daemon writes and reads. */
export function nativeFiles(topics: ReadonlyMap<string, Topic>): string {
  const lines = numbers(topics).filter(([kind]) => NATIVE.includes(kind)).map(([kind, schema]) => `inline constexpr int k${words(kind)}Schema = ${schema};\n`)
  return `// The number of the shape of each file that outlives the daemon. Generated from protocol/ by \`npm run protocol\`.
#pragma once

namespace flexrack::server {

${lines.join('')}
}  // namespace flexrack::server
`
}

const NATIVE = ['gpu.address', 'gpu.leases']

function words(kind: string): string {
  return kind.split('.').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
}

function numbers(topics: ReadonlyMap<string, Topic>): [string, number][] {
  return [...topics.values()].flatMap((topic) => Object.entries(topic.files ?? {}).map(([kind, {schema}]): [string, number] => [kind, schema])).sort(([a], [b]) => (a < b ? -1 : 1))
}
