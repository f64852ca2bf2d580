import {createHash} from 'node:crypto'
import {join} from 'node:path'
import {textIfThere} from '../base/index.ts'

/** Beside the manifest: exact versions with hashes, for every platform; nodes install exactly that. */
export const LOCK_FILE = 'flexrack.lock'

/** Which image the project's tag stands for, in a file that may say nothing else. */
export const IMAGE_LINE = /^# workspace\.image: (\S+) is (sha256:[0-9a-f]{64})$/

interface Content {
  requirements: string
  constraints: string
}

const HEADER =
  /^# Made by `flexrack lock` from (\S+) \(([0-9a-f]{16})\), for Python (\d+\.\d+) and newer\. Do not edit\.\n/

/** A lock file that belongs to these requirements, as text. Options such as --index-url stay in it. */
export function lockText(file: string, content: Content, python: string, pins: string): string {
  const options = content.requirements.split('\n').filter((line) => /^\s*-/.test(line))
  return [
    `# Made by \`flexrack lock\` from ${file} (${sourceDigest(content)}), for Python ${python} and newer. Do not edit.`,
    ...options,
    pins,
  ].join('\n')
}

/**
 * What a lock file of the project says: its lines, whether it belongs to these requirements, and its oldest Python.
 * Undefined where there is none.
 */
export async function readLock(
  folder: string,
  content: Content,
): Promise<{text: string; isCurrent: boolean; python: string} | undefined> {
  const text = withoutImage(await textIfThere(join(folder, LOCK_FILE)))
  const [, , digest, python = ''] = HEADER.exec(text ?? '') ?? []
  return text === undefined ? undefined : {text, isCurrent: digest === sourceDigest(content), python}
}

/** What a lock file says of packages; undefined where that is nothing. */
function withoutImage(text: string | undefined): string | undefined {
  const rest = text
    ?.split('\n')
    .filter((line) => !IMAGE_LINE.test(line))
    .join('\n')
  return rest?.trim() === '' ? undefined : rest
}

/** The line of an image in a lock file, with its end; empty where there is none. */
export const imageLine = (text: string | undefined): string =>
  text
    ?.split('\n')
    .flatMap((line) => (IMAGE_LINE.test(line) ? [`${line}\n`] : []))
    .join('') ?? ''

function sourceDigest({requirements, constraints}: Content): string {
  return createHash('sha256')
    .update(JSON.stringify([requirements, constraints]))
    .digest('hex')
    .slice(0, 16)
}
