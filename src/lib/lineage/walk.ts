import {isCliError} from '../base/index.ts'
import type {ModelVersion, TrackedRun} from '../tracking/index.ts'
import {checkFiles, checkImage, checkRelease, checkRecord, checkServed, checkSignature, checkVersion} from './checks.ts'
import {checkCode, checkData, checkEnvironment} from './content-checks.ts'
import {codeFacts, environmentFacts, modelFacts, releaseFacts, runFacts} from './facts.ts'
import {findRecord, RECORD_TAG} from './find-record.ts'
import type {ArrowCheck, Evidence, FoundRecord, ServedRelease, Why, WhyNode} from './types.ts'

/** Further back nobody looks: a chain of runs that long is told to be cut off. */
const MOST_PARENTS = 32
/** Nor at more runs on all ways together: two parents each that are one run are two ways there, and double every time. */
const MOST_RUNS = 256

export interface WalkHow {
  evidence: Evidence
  /** Hash everything again. */
  verify: boolean
  /** It has to be signed by somebody who is allowed to. */
  signed: boolean
}

/** `runs`: how many runs before what is asked for are still looked at. */
type Walking = WalkHow & {left: {runs: number}}

export type Asked = {endpoint: string} | {model: string; version: string | undefined} | {run: string}

/**
 * From what is asked for back to what it came from. Undefined where there is nothing of that name. Looks only. Errors:
 * those of the evidence.
 */
export async function walk(asked: string, what: Asked, how: WalkHow): Promise<Why | undefined> {
  const tree = await start(what, {...how, left: {runs: MOST_RUNS}})
  return tree && {asked, verified: how.verify, tree, broken: firstBroken(tree)}
}

async function start(what: Asked, how: Walking): Promise<WhyNode | undefined> {
  if ('endpoint' in what) return ofEndpoint(what.endpoint, how)
  if ('model' in what) {
    const version = await how.evidence.version(what.model, what.version)
    return version && ofVersion(version, how)
  }
  const run = await how.evidence.run(what.run)
  return run && ofRun(run, undefined, how, new Set())
}

async function ofEndpoint(name: string, how: Walking): Promise<WhyNode | undefined> {
  const release = await how.evidence.release(name)
  if (!release) return undefined
  const {model} = release
  // Two projects may have a model of that name: it is the one that the release was made of.
  const fits = (found: ModelVersion): boolean => checkRelease(release, found).holds
  const version = await how.evidence.version(model.name, model.version, fits)
  const under: WhyNode[] = version
    ? [withCheck(await ofVersion(version, how, release), checkRelease(release, version))]
    : [gone('model', `${model.name}/${model.version}`, 'the registry has no such version any more')]
  const node: WhyNode = {kind: 'release', name: release.id, facts: releaseFacts(release), from: under}
  return {
    kind: 'endpoint',
    name,
    facts: [],
    from: [how.verify ? withCheck(node, checkServed(await how.evidence.served(name))) : node],
  }
}

async function ofVersion(version: ModelVersion, how: Walking, release?: ServedRelease): Promise<WhyNode> {
  const node: WhyNode = {
    kind: 'model',
    name: `${version.name}/${version.version}`,
    facts: modelFacts(version),
    from: [],
  }
  const signature = await signatureOf(version, how)
  if (signature) node.from.push(signature)
  if (version.runId === undefined) {
    node.facts.push(['run', 'none is named'])
    // Nothing of it could be hashed, so nothing of it holds.
    return how.verify
      ? withCheck(node, {holds: false, why: 'it names no run, so nothing says what it came from'})
      : node
  }
  const run = await how.evidence.run(version.runId)
  node.from.push(
    run
      ? await ofRun(run, version, how, new Set(), release)
      : gone('run', version.runId, 'the tracking server has no such run any more'),
  )
  return node
}

async function signatureOf(version: ModelVersion, {evidence, signed, verify}: WalkHow): Promise<WhyNode | undefined> {
  const node: WhyNode = {kind: 'signature', name: `${version.name}/${version.version}`, facts: [], from: []}
  try {
    const said = await evidence.attested(version)
    if (!said) return signed ? withCheck(node, {holds: false, why: 'nobody has signed it'}) : undefined
    const check = checkSignature(said, version, signed)
    node.facts = said.keys.map((key): [string, string] => ['key', key])
    return {...node, name: said.signer ?? 'of somebody', ...((verify || !check.holds) && {check})}
  } catch (error) {
    if (!isCliError(error, 'CHECK_FAILED')) throw error
    return withCheck(node, {holds: false, why: error.message})
  }
}

/** `version`: of the arrow that leads here. `seen`: runs on the way here. */
async function ofRun(
  run: TrackedRun,
  version: ModelVersion | undefined,
  how: Walking,
  seen: ReadonlySet<string>,
  release?: ServedRelease,
): Promise<WhyNode> {
  const node: WhyNode = {kind: 'run', name: run.tags['flexrack.run'] ?? run.name, facts: [], from: []}
  const found = await recordOf(run, how)
  if (!found || 'holds' in found) {
    node.facts = runFacts(run, undefined)
    return withCheck(
      node,
      found ?? {
        holds: run.tags[RECORD_TAG] === undefined && version?.tags[RECORD_TAG] === undefined && !how.verify,
        why: 'it has no record: it was not made by this flexrack, or its record was taken away',
      },
    )
  }
  node.facts = runFacts(run, found.record)
  const files = version && how.verify ? await how.evidence.versionFiles(version) : undefined
  const check = checkRecord(run, found, version)
  const own = version ? checkVersion(version, found.record, files) : undefined
  const served = release && how.verify ? checkFiles(release, found.record) : undefined
  const first = [check, own, served].find((one) => one && !one.holds) ?? own ?? check
  if (how.verify || !first.holds) node.check = first
  node.from = await contentsOf(run, found, how)
  node.from.push(...(await parentsOf(run, found, how, new Set([...seen, run.id, node.name]))))
  return node
}

async function recordOf(run: TrackedRun, {evidence}: WalkHow): Promise<FoundRecord | ArrowCheck | undefined> {
  try {
    return await findRecord(run, evidence)
  } catch (error) {
    if (!isCliError(error, 'CHECK_FAILED')) throw error
    return {holds: false, why: error.message}
  }
}

async function contentsOf(run: TrackedRun, {record}: FoundRecord, {evidence, verify}: WalkHow): Promise<WhyNode[]> {
  const nodes: WhyNode[] = []
  const add = async (node: Omit<WhyNode, 'from'>, check: () => Promise<ArrowCheck>): Promise<void> => {
    nodes.push({...node, ...(verify && {check: await check()}), from: []})
  }
  const {code, environment, image} = record
  if (code)
    await add({kind: 'code', name: code.digest.slice(0, 16), facts: codeFacts(code)}, () =>
      checkCode(run, code, evidence),
    )
  if (environment)
    await add({kind: 'environment', name: environment.hash, facts: environmentFacts(environment)}, () =>
      checkEnvironment(run, environment, evidence),
    )
  for (const {name, digest} of record.data)
    await add({kind: 'data', name: `${name}@${digest.slice(0, 12)}`, facts: []}, () =>
      checkData(name, digest, evidence),
    )
  if (image !== null)
    await add({kind: 'image', name: image, facts: []}, () =>
      checkImage(
        image,
        record.nodes.map((one) => one.node),
        evidence,
      ),
    )
  return nodes
}

async function parentsOf(
  run: TrackedRun,
  {record}: FoundRecord,
  how: Walking,
  seen: ReadonlySet<string>,
): Promise<WhyNode[]> {
  const nodes: WhyNode[] = []
  for (const parent of record.origin?.parents ?? []) {
    if (how.left.runs === 0) {
      nodes.push(gone('parent', parent.name, `more than ${MOST_RUNS} runs lie before what was asked for`))
      break
    }
    how.left.runs--
    const base = {kind: 'parent' as const, facts: [] as [string, string][]}
    if (parent.kind === 'model') {
      const [name = '', version] = parent.name.split('/')
      const found = await how.evidence.version(name, version)
      if (!found) {
        nodes.push(gone('parent', parent.name, 'the registry has no such version any more'))
        continue
      }
      const own = found.tags['flexrack.sha256']
      const check = {
        holds: parent.digest === undefined || own === parent.digest,
        why: `its file was ${parent.digest}, and is registered as ${own}`,
      }
      const from = found.runId === undefined ? [] : await ofParent(found.runId, how, seen)
      nodes.push({...base, name: parent.name, facts: modelFacts(found), from, ...(!check.holds && {check})})
      continue
    }
    nodes.push(...(await ofParent(parent.name, how, seen, parent.digest)))
  }
  return nodes
}

async function ofParent(name: string, how: Walking, seen: ReadonlySet<string>, digest?: string): Promise<WhyNode[]> {
  if (seen.size > MOST_PARENTS * 2) return [gone('parent', name, `more than ${MOST_PARENTS} runs lie before it`)]
  const run = await how.evidence.run(name)
  if (!run) return [gone('parent', name, 'the tracking server has no such run any more')]
  if (seen.has(run.id))
    return [gone('parent', run.tags['flexrack.run'] ?? run.name, 'it is said to come from itself: a loop')]
  const node = await ofRun(run, undefined, how, seen)
  const tag = run.tags[RECORD_TAG]
  return [
    digest !== undefined && tag !== digest
      ? withCheck(node, {holds: false, why: `its record was ${digest}, and is ${tag ?? 'gone'}`})
      : node,
  ]
}

function gone(kind: WhyNode['kind'], name: string, why: string): WhyNode {
  return {kind, name, facts: [], check: {holds: false, why}, from: []}
}

/** What was found first to be wrong stays. */
function withCheck(node: WhyNode, check: ArrowCheck): WhyNode {
  return node.check && !node.check.holds ? node : {...node, check}
}

/** From what is served backwards. Pure. */
export function firstBroken(node: WhyNode, above?: WhyNode): Why['broken'] {
  if (node.check && !node.check.holds)
    return {
      arrow: above ? `${above.kind} ${above.name} -> ${node.kind} ${node.name}` : `${node.kind} ${node.name}`,
      why: node.check.why,
    }
  for (const one of node.from) {
    const found = firstBroken(one, node)
    if (found) return found
  }
  return null
}
