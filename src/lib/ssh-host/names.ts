import {createHash} from 'node:crypto'
import type {HostPlace} from './types.ts'

/** Editors put names into addresses without quoting them: small letters, digits and dashes are safe everywhere. */
const OTHER = /[^a-z0-9]+/g

/**
 * A name for each place: `ws-PROJECT` for the first node, `ws-PROJECT-NODE` for each where there are several. A place
 * that has a name keeps it; a name that another place has gets some digits behind it, always the same. Pure.
 */
export function nameHosts(
  places: readonly HostPlace[],
  known: readonly (HostPlace & {alias: string})[],
): Map<HostPlace, string[]> {
  const owners = new Map(known.map((one) => [one.alias, keyOf(one, one.first)]))
  const several = places.length > 1
  const names = new Map<HostPlace, string[]>()
  for (const place of places) {
    const wanted: [name: string, first: boolean][] = [
      ...(place.first ? [[`ws-${slug(place.project)}`, true] as [string, boolean]] : []),
      ...(several ? [[`ws-${slug(place.project)}-${slug(place.node)}`, false] as [string, boolean]] : []),
    ]
    names.set(
      place,
      wanted.map(([name, first]) => {
        const key = keyOf(place, first)
        const alias =
          (owners.get(name) ?? key) === key
            ? name
            : `${name}-${createHash('sha256').update(key).digest('hex').slice(0, 6)}`
        owners.set(alias, key)
        return alias
      }),
    )
  }
  return names
}

/** The host without a node is whichever is the first now; the others are their nodes'. */
function keyOf({rack, project, node}: HostPlace, first: boolean): string {
  return JSON.stringify(first ? [rack, project] : [rack, project, node])
}

function slug(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(OTHER, '-')
      .replace(/^-+|-+$/g, '') || 'x'
  )
}
