import {basename} from 'node:path'
import {CliError, type ErrorCode} from '../base/index.ts'
import type {Problem, Source, Span} from './types.ts'

const EXCERPT_WIDTH = 100

/** A problem at a span of a text: line, column and excerpt are worked out from it. */
export function problemAt(
  at: Pick<Source, 'file' | 'text'>,
  span: Span,
  message: string,
  more: {expected?: string; nearest?: string} = {},
): Problem {
  const start = Math.max(0, Math.min(span[0], at.text.length))
  const lineStart = at.text.lastIndexOf('\n', start - 1) + 1
  const lineEnd = at.text.indexOf('\n', start)
  const line = at.text.slice(0, lineStart).split('\n').length
  const text = at.text.slice(lineStart, lineEnd < 0 ? undefined : lineEnd).replace(/\r$/, '')
  const column = start - lineStart
  return {
    file: at.file,
    line,
    column: column + 1,
    message,
    ...more,
    excerpt: excerpt(line, text, column, span[1] - start),
  }
}

/**
 * The error that carries problems, in the order of the file. The message alone is enough where there is one problem.
 */
export function problemsError(code: ErrorCode, file: string, problems: Problem[], hint?: string): CliError {
  const sorted = [...problems].sort((a, b) => a.line - b.line || a.column - b.column)
  const [first] = sorted
  const message =
    sorted.length === 1 && first
      ? `${basename(file)}:${first.line}:${first.column}: ${first.message}`
      : `${basename(file)} has ${sorted.length} errors`
  return new CliError(code, message, {details: {file, problems: sorted}, ...(hint ? {hint} : {})})
}

function excerpt(line: number, text: string, column: number, length: number): string {
  // A long line is cut to a window around the place; control characters would move the carets or the terminal.
  const from = column > EXCERPT_WIDTH - 20 ? column - 40 : 0
  const shown = visible(text.slice(from, from + EXCERPT_WIDTH))
  const carets = Math.max(1, Math.min(length, text.length - column, shown.length - (column - from)))
  const number = String(line)
  return `${number} | ${shown}\n${' '.repeat(number.length)} | ${' '.repeat(column - from)}${'^'.repeat(carets)}`
}

function visible(text: string): string {
  return text.replace(/\t/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '·')
}
