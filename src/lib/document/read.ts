import {open} from 'node:fs/promises'
import {LineCounter, parseDocument, type Document} from 'yaml'
import {convert} from './convert.ts'
import {findSpan} from './place.ts'
import {problemAt} from './problem.ts'
import type {Path, Problem, Source} from './types.ts'

/** No file a person writes is larger; anything above is a mistake that must not take the machine down. */
export const MAX_FILE_BYTES = 256 * 1024

export interface ReadOptions {
  /** Taken instead of the file's own text, which is then not read. */
  text?: string
  /** Values at these paths are taken as they are written: `OMP_NUM_THREADS: 04` is the text `04`. */
  asText?: (path: Path) => boolean
}

/** Reads and parses a YAML file. What is wrong with it is in `problems`; only errors of the file system are thrown. */
export async function readSource(file: string, options: ReadOptions = {}): Promise<Source> {
  const content = options.text ?? (await readBounded(file))
  if (typeof content === 'string') return parseSource(file, content, options.asText ?? (() => false))
  return {
    file,
    text: '',
    value: null,
    broken: true,
    problems: [{file, line: 1, column: 1, message: content.message}],
    span: () => [0, 0],
  }
}

function parseSource(file: string, text: string, asText: (path: Path) => boolean): Source {
  // Duplicate keys are found by `convert`, in linear time and with a place for the first one.
  const document = parseDocument(text, {
    lineCounter: new LineCounter(),
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  })
  const at = {file, text}
  const syntax = syntaxProblems(document, at)
  if (syntax.length > 0) return {...at, value: null, problems: syntax, broken: true, span: () => [0, 0]}
  const {value, problems} = convert(document, at, asText)
  const broken = problems.some((problem) => problem.fatal)
  return {
    ...at,
    value,
    problems: problems.map(({fatal: _, ...problem}) => problem),
    broken,
    span: (path, what) => findSpan(document, path, what),
  }
}

function syntaxProblems(document: Document.Parsed, at: {file: string; text: string}): Problem[] {
  const exhausted = document.errors.find((error) => error.code === 'RESOURCE_EXHAUSTION')
  if (exhausted) return [problemAt(at, exhausted.pos, 'nested too deeply')]
  const problems = document.errors
    .slice(0, 20)
    .map((error) => problemAt(at, error.pos, `not valid YAML: ${SYNTAX[error.code] ?? uncapitalised(error.message)}`))
  for (const warning of document.warnings.slice(0, 20))
    problems.push(problemAt(at, warning.pos, `not valid here: ${uncapitalised(warning.message)}`))
  // One slip often gives several errors at the same place; the first tells enough.
  return problems.filter(
    (problem, index) =>
      problems.findIndex((other) => other.line === problem.line && other.column === problem.column) === index,
  )
}

const SYNTAX: Record<string, string> = {
  TAB_AS_INDENT: 'a tab is used as indentation; use spaces',
  BLOCK_AS_IMPLICIT_KEY: 'a key and a value are expected here; put text that contains ": " in quotes',
  MULTIPLE_DOCS: 'a second document begins here; one file holds one document',
}

function uncapitalised(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1)
}

async function readBounded(file: string): Promise<string | {message: string}> {
  const handle = await open(file, 'r')
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) return {message: 'this is not a regular file'}
    if (stat.size > MAX_FILE_BYTES)
      return {message: `the file has ${stat.size} bytes; more than ${MAX_FILE_BYTES / 1024} KiB is not read`}
    const bytes = Buffer.alloc(MAX_FILE_BYTES + 1)
    let length = 0
    for (;;) {
      const {bytesRead} = await handle.read(bytes, length, bytes.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    if (length > MAX_FILE_BYTES)
      return {message: `the file grew while it was read; more than ${MAX_FILE_BYTES / 1024} KiB is not read`}
    return decode(bytes.subarray(0, length))
  } finally {
    await handle.close()
  }
}

function decode(bytes: Uint8Array): string | {message: string} {
  try {
    const text = new TextDecoder('utf-8', {fatal: true}).decode(bytes)
    return text.includes('\0') ? {message: 'the file contains NUL bytes; it is not a text file'} : text
  } catch {
    return {message: 'the file is not UTF-8 text'}
  }
}
