import {Failure} from '../failure.ts'
import type {Lookup} from './scope.ts'

/** Nobody writes a path that is encoded so often. */
const DEEPEST = 8
/** What leads elsewhere: parts that are dots (MLflow drops a `?` at the end), other separators, URLs of files, controls. */
// oxlint-disable-next-line no-control-regex
const ODD = /(?:^|\/)\.{0,2}(?:[/?#]|$)|\\|^file:|[\u0000-\u001F\u007F]/i

/**
 * A path among artifacts as MLflow comes to read it, which decodes until nothing is left to decode. Undefined where that
 * is no plain way down from the root.
 */
export function plainArtifact(written: string): string | undefined {
  let path = written
  for (let depth = 0; depth < DEEPEST; depth++) {
    const next = path.replaceAll(/%([0-7][0-9a-f])/gi, (_all, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    if (next === path) return ODD.test(path.replace(/\/$/, '')) ? undefined : decoded(path)
    path = next
  }
  return undefined
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path // a percent sign of a file's own name
  }
}

/**
 * Of a call of artifacts: every path that it names leads down from the root, and into no project but its own. MLflow
 * looks at the beginning of a path only, and in its default workspace all others are below the root. Errors: 403.
 */
export function requireArtifacts(path: string, query: URLSearchParams, workspace: string | undefined): void {
  const [, root, below = ''] =
    /^\/api\/2\.0\/mlflow-artifacts\/([a-z]+(?:\/(?:create|complete|abort))?)(?:\/(.*))?$/.exec(path) ?? []
  if (root === undefined) return
  for (const written of [below, ...query.getAll('path')].filter((one) => one !== '')) {
    const plain = plainArtifact(written)
    if (plain === undefined) throw new Failure(403, 'REFUSED', `${written} is no plain path`)
    const [first, project] = plain.split('/', 2)
    if (first === 'workspaces' && project !== (workspace ?? 'default'))
      throw new Failure(403, 'REFUSED', `${written} is of another project`)
  }
}

/** Whose a file is: the run or the logged model in whose folder it lies. Undefined: nobody's. */
export async function ownerOfArtifact(
  path: string,
  lookup: Pick<Lookup, 'run' | 'model'>,
): Promise<{run: string | undefined} | undefined> {
  const isIn = (folder: string | undefined): boolean => folder !== undefined && `${path}/`.startsWith(`${folder}/`)
  for (const part of path.split('/')) {
    if (part.startsWith('m-')) {
      const model = await lookup.model(part)
      if (isIn(model?.artifacts)) return {run: model?.run}
    } else if (/^[0-9a-f]{32}$/.test(part) && isIn((await lookup.run(part))?.artifacts)) return {run: part}
  }
  return undefined
}
