import {sizeText} from '../../lib/base/index.ts'
import type {Lineage, ModelDetails, ModelSummary, Promotion, Registration, Removal} from '../../lib/model/index.ts'
import {ago, fields, table} from '../terminal/render.ts'

export interface Registered {
  registration: Registration
  version: string
  previous: string | undefined
}

export function modelListText(models: ModelSummary[]): string {
  if (models.length === 0) return 'No models yet. Register one: flexrack model register NAME --run RUN'
  const rows = models.map((model) => ({
    name: model.name,
    newest: model.newest,
    versions: String(model.versions),
    aliases: Object.entries(model.aliases)
      .map(([alias, version]) => `${alias}=${version}`)
      .join(' '),
    changed: ago(model.updatedAt),
  }))
  return table(rows, ['name', 'newest', {key: 'versions', align: 'right'}, 'aliases', 'changed'])
}

export function modelShowText(model: ModelDetails): string {
  const blocks = model.list.map((version) => {
    const from = version.lineage
    return fields([
      ['version', `${model.name}/${version.version}${version.aliases.map((alias) => `  @${alias}`).join('')}`],
      ['registered', ago(version.createdAt)],
      ['file', version.tags['flexrack.path'] ?? version.source],
      ['sha256', version.tags['flexrack.sha256']],
      ['run', from?.run ?? version.runId],
      ['commit', from && commitText(from)],
      ['command', from?.command],
      ['metrics', from && numbersText(from.metrics)],
    ])
  })
  return blocks.length > 0 ? blocks.join('\n\n') : `Model ${model.name} has no versions.`
}

export function registeredText({registration, version, previous}: Registered): string {
  const {name, path, run, alias, bytes: size} = registration
  const lines = [
    `Registered ${path}${size === undefined ? '' : ` (${sizeText(size)})`} of run ${run.name} as ${name}/${version}.`,
  ]
  if (alias !== undefined) lines.push(aliasLine(name, alias, version, previous))
  return [...lines, '', `Next: flexrack endpoint deploy ${name}`].join('\n')
}

export function promotedText({name, version, alias, previous}: Promotion): string {
  return previous === version
    ? `${name}@${alias} is version ${version} already.`
    : aliasLine(name, alias, version, previous)
}

export function removedText({name, version, versions}: Removal): string {
  return version === undefined
    ? `Removed model ${name} with ${versions.length} version${versions.length === 1 ? '' : 's'}.`
    : `Removed ${name}/${version}.`
}

function aliasLine(name: string, alias: string, version: string, previous: string | undefined): string {
  const undo =
    previous === undefined
      ? 'it is new'
      : `was version ${previous}; undo: flexrack model promote ${name}/${previous} ${alias}`
  return `${name}@${alias} is version ${version} now (${undo}).`
}

function commitText({commit, dirty}: Lineage): string | undefined {
  return commit && `${commit.slice(0, 12)}${dirty ? ' with uncommitted changes' : ''}`
}

function numbersText(metrics: Record<string, number>): string {
  return Object.entries(metrics)
    .slice(0, 12)
    .map(([key, value]) => `${key}=${Number(value.toPrecision(5))}`)
    .join('  ')
}
