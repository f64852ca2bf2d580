import {CliError} from '../base/index.ts'

/** What a name of a registered model means: `digits` (newest version), `digits/3`, `digits@production`. */
export interface ModelReference {
  name: string
  version?: string
  alias?: string
}

const SHAPE = /^(?<name>[^/:@]+)(?:\/(?<version>\d+)|@(?<alias>[A-Za-z0-9_.-]+))?$/

/** Throws USAGE for anything else. */
export function parseReference(text: string): ModelReference {
  const {name, version, alias} = SHAPE.exec(text)?.groups ?? {}
  if (!name)
    throw new CliError('USAGE', `"${text}" is no model name`, {
      hint: 'write NAME, NAME/VERSION or NAME@ALIAS, e.g. digits@production',
    })
  return {name, ...(version && {version}), ...(alias && {alias})}
}

/** Throws USAGE where the registry would not take the name. */
export function checkModelName(name: string): void {
  if (/^[^/:@'"\s]{1,200}$/.test(name)) return
  throw new CliError('USAGE', `"${name}" cannot be the name of a model`, {
    hint: 'use letters, digits, "-", "_" and "."',
  })
}

/** Throws USAGE where the registry would not take the alias: `latest` and `v1` have meanings of their own there. */
export function checkAlias(alias: string): void {
  if (/^[A-Za-z0-9_.-]{1,255}$/.test(alias) && !/^v\d+$/i.test(alias) && alias.toLowerCase() !== 'latest') return
  throw new CliError('USAGE', `"${alias}" cannot be an alias`, {
    hint: 'use a word such as production; latest and v1, v2, … are taken by the registry itself',
  })
}
