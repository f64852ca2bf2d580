import {readdirSync, readFileSync} from 'node:fs'
import {join, relative, resolve} from 'node:path'
import {readTopics, type FileKind} from '../../scripts/protocol/schema.ts'

const root = resolve(import.meta.dirname, '../..')
const topics = [...readTopics(join(root, 'protocol')).values()]
const NUMBERED = topics.flatMap((topic) =>
  Object.values(topic.files ?? {}).map((kind) => ({...kind, pattern: patternOf(kind.path)})),
)
const UNNUMBERED = topics.flatMap((topic) => Object.keys(topic.unnumbered ?? {}).map(patternOf))

/**
 * What is below a folder that protocol/ calls `name` (NODE, STATE, ...) and is not as it says: nobody knows it, or it
 * lacks the number of its shape.
 */
export function unknownFiles(name: string, folder: string): string[] {
  const files = readdirSync(folder, {recursive: true, withFileTypes: true})
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  return files
    .map((file) => [faultOf(`${name}/${relative(folder, file)}`, file), file])
    .filter(([fault]) => fault !== undefined)
    .map(([fault, file]) => `${file}: ${fault}`)
}

/** Words in capitals and `*` stand for a part of a name, `**` for any names. */
export function patternOf(path: string): RegExp {
  const [first = '', ...rest] = path.split('/')
  const parts = rest.map((part) =>
    part === '**'
      ? '.+'
      : part
          .replaceAll(/[.+]/g, '\\$&')
          .replaceAll('*', '[^/]*')
          .replaceAll(/[A-Z]+/g, '[^/]+'),
  )
  return new RegExp(`^${[first, ...parts].join('/').replaceAll('/.+/', '/(?:.+/)?')}$`)
}

function faultOf(name: string, file: string): string | undefined {
  const kind = NUMBERED.find(({pattern}) => pattern.test(name))
  if (!kind) return UNNUMBERED.some((pattern) => pattern.test(name)) ? undefined : 'not in protocol/'
  return textFault(kind, readFileSync(file, 'utf8'))
}

function textFault({schema, lines}: FileKind, text: string): string | undefined {
  const values = lines ? text.split('\n').filter(Boolean) : [text]
  const bad = values.find((value) => value !== 'null' && (JSON.parse(value) as {schema?: number}).schema !== schema)
  return bad === undefined ? undefined : `is to have schema ${schema}: ${bad.slice(0, 200)}`
}
