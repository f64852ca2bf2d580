import {existsSync, statSync} from 'node:fs'
import {resolve} from 'node:path'
import {CliError} from '../base/index.ts'
import type {ImageReference} from './types.ts'

const DIGEST = /^sha256:[0-9a-f]{64}$/
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
/** distribution-spec: what a repository may be called. */
const NAME = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(?::[0-9]{1,5})?$/

/**
 * `registry/name:tag@sha256:...` as docker takes it (without a registry that is docker.io), `oci:FOLDER[:TAG]`,
 * `oci-archive:FILE[:TAG]`, or a path that begins with `.` or `/`: a folder is a layout, a file an archive. Paths are
 * relative to `folder`. Errors: USAGE.
 */
export function parseReference(text: string, folder: string): ImageReference {
  const [, rest = '', digest] = /^(.*?)(?:@([^@]*))?$/s.exec(text) ?? []
  if (digest !== undefined && !DIGEST.test(digest)) throw bad(text, 'after @ comes a digest, sha256: and 64 hex digits')
  const pinned = digest === undefined ? {} : {digest}
  const named = /^(oci|oci-archive):(.+)$/s.exec(rest)
  if (named || /^[./]/.test(rest)) {
    const {path, tag} = splitPath(named?.[2] ?? rest, folder)
    const kind = named ? (named[1] === 'oci' ? 'layout' : 'archive') : isFolder(path) ? 'layout' : 'archive'
    if (!existsSync(path))
      throw new CliError('NOT_FOUND', `workspace.image: there is no ${path}`, {
        hint: 'correct workspace.image in flexrack.yaml',
      })
    return {kind, text: rest, path, ...(tag !== undefined && {tag}), ...pinned}
  }
  const slash = rest.indexOf('/')
  const first = slash < 0 ? '' : rest.slice(0, slash)
  const isHost = first === 'localhost' || /[.:]/.test(first) || first !== first.toLowerCase()
  const host = isHost ? first : 'docker.io'
  const [, path = '', tag] = /^([^:]*)(?::(.*))?$/s.exec(isHost ? rest.slice(slash + 1) : rest) ?? []
  const name = !isHost && !path.includes('/') ? `library/${path}` : path
  if (!HOST.test(host) || !NAME.test(name) || name.length > 255)
    throw bad(text, 'it is like nvcr.io/nvidia/pytorch:25.01-py3')
  if (tag !== undefined && !TAG.test(tag)) throw bad(text, 'a tag is letters, digits, dots, dashes and underscores')
  return {kind: 'registry', text: rest, host, name, tag: tag ?? 'latest', ...pinned}
}

function splitPath(text: string, folder: string): {path: string; tag?: string} {
  const whole = resolve(folder, text)
  const colon = text.lastIndexOf(':')
  if (colon <= 0 || existsSync(whole)) return {path: whole}
  const tag = text.slice(colon + 1)
  return TAG.test(tag) ? {path: resolve(folder, text.slice(0, colon)), tag} : {path: whole}
}

const isFolder = (path: string): boolean => statSync(path, {throwIfNoEntry: false})?.isDirectory() === true

function bad(text: string, why: string): CliError {
  return new CliError('USAGE', `workspace.image: "${text}" is not an image: ${why}`, {
    hint: "a registry's image, oci:FOLDER or oci-archive:FILE",
  })
}
