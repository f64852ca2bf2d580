import {hostname} from 'node:os'
import {CliError, nearestName, type Context} from '../../lib/base/index.ts'
import {listBackgrounds} from '../../lib/background/index.ts'
import {findManifest, loadManifest} from '../../lib/manifest/index.ts'

/**
 * The sweep whose process is meant, from this machine's files alone. Errors: NOT_FOUND, CONFLICT for a beginning that
 * fits several.
 */
export async function chooseBackground(
  name: string | undefined,
  project: string | undefined,
  context: Context,
): Promise<string> {
  const all = await listBackgrounds(context)
  if (name === undefined) {
    const manifest =
      project !== undefined || findManifest(process.cwd()) !== undefined
        ? await loadManifest(project ?? process.cwd())
        : undefined
    const newest = all.find((one) => manifest === undefined || one.project === manifest.name)
    if (newest) return newest.name
    throw new CliError(
      'NOT_FOUND',
      `no sweep${manifest ? ` of ${manifest.name}` : ''} was started on ${hostname()} with --detach`,
      {hint: 'flexrack sweep list'},
    )
  }
  const [exact, matching] = [all.find((one) => one.name === name), all.filter((one) => one.name.startsWith(name))]
  const found = exact ?? (matching.length === 1 ? matching[0] : undefined)
  if (found) return found.name
  if (matching.length > 1)
    throw new CliError('CONFLICT', `${matching.length} sweeps begin with ${name}`, {
      details: {sweeps: matching.map((one) => one.name)},
      hint: 'flexrack sweep list',
    })
  const near = nearestName(
    name,
    all.map((one) => one.name),
  )
  throw new CliError(
    'NOT_FOUND',
    `no sweep ${name} was started on ${hostname()} with --detach${near ? `; did you mean ${near}?` : ''}`,
    {hint: near ? `flexrack sweep logs ${near}` : `flexrack sweep show ${name}`, details: {nearest: near}},
  )
}
