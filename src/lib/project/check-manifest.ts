import {readFile, stat} from 'node:fs/promises'
import {dirname, join, posix} from 'node:path'
import {nearestName, problemAt, type Source} from '../document/index.ts'
import type {LocatedManifest} from '../manifest/index.ts'
import type {Launcher} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import {PROJECT_LOCK} from '../workspace/index.ts'
import {fromProblem, type Finding} from './findings.ts'

const INTERPRETERS = new Set(['python', 'python3', 'torchrun', 'accelerate', 'deepspeed', 'mpirun', 'bash', 'sh'])
/** What a launcher needs in the environment. */
const PACKAGES: Partial<Record<Launcher, {name: string; line: string}>> = {
  torchrun: {name: 'PyTorch', line: 'torch==2.13.0'},
  accelerate: {name: 'accelerate', line: 'accelerate==1.15.0'},
  deepspeed: {name: 'DeepSpeed', line: 'deepspeed==0.19.8'},
  ray: {name: 'Ray', line: 'ray[default]==2.60.0'},
}

/**
 * What is valid as such, but would stop a run or surprise its owner. `nodes` are those that the run could be on;
 * undefined where that is not known, or Slurm's business.
 */
export async function checkManifest(
  {manifest, source}: LocatedManifest,
  nodes: RackNode[] | undefined,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const {train, workspace, folder} = manifest
  const report = (path: string[], message: string, fix: string, severity: Finding['severity'] = 'error') =>
    findings.push({...fromProblem(problemAt(source, source.span(path, 'value'), message), 'manifest'), severity, fix})
  if (workspace.python !== undefined) findings.push(...(await checkRequirements(folder, workspace.python)))
  const stale =
    workspace.python === undefined
      ? undefined
      : await PROJECT_LOCK.stale(folder, workspace.python, workspace.pythonVersion)
  if (stale !== undefined) report(['workspace', 'python'], stale.message, stale.fix)
  if (!train) return findings
  const script = train.command[0] ?? ''
  if (INTERPRETERS.has(posix.basename(script))) {
    report(
      ['train', 'command'],
      `train.command begins with ${script}, but flexrack starts Python itself`,
      `command: ${train.command.slice(1).join(' ') || 'train.py'}`,
    )
  } else if (!script.startsWith('-') && !(await isFile(join(folder, script)))) {
    const nearest = nearestName(script, await pythonFiles(folder))
    report(
      ['train', 'command'],
      `train.command: there is no file ${script} in the project folder${nearest ? `; did you mean "${nearest}"?` : ''}`,
      nearest ? `command: ${[nearest, ...train.command.slice(1)].join(' ')}` : `write ${script}`,
    )
  }
  const least = train.minNodes ?? train.nodes
  if (nodes && least > nodes.length) {
    report(
      ['train', 'nodes'],
      `train.nodes is ${least}${least < train.nodes ? ' at least' : ''}, but the rack has ${nodes.length} to run on`,
      `flexrack train --nodes ${nodes.length}`,
    )
  }
  const needed = PACKAGES[train.launcher]
  if (needed !== undefined && workspace.python === undefined) {
    report(
      ['train'],
      `the launcher ${train.launcher} needs ${needed.name}, but workspace.python names no requirements file`,
      `workspace: {python: requirements.txt}, with a line such as ${needed.line}; or launcher: plain`,
    )
  }
  return findings
}

const NAME = String.raw`[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`
const VERSION = String.raw`\s*(?:===|==|~=|!=|<=|>=|<|>)\s*[^\s,;()=<>!~]+\s*`
/** A line of PEP 508 as far as it goes without its markers: name, extras, versions or URL. */
const REQUIREMENT = new RegExp(
  String.raw`^${NAME}\s*(?:\[[^\]]*\]\s*)?(?:@\s*\S.*|\(?(?:${VERSION}(?:,${VERSION})*)?\)?)\s*(?:;.*)?$`,
)

/** Lines of a requirements file that pip could not read, and files it names that are not there. */
async function checkRequirements(folder: string, python: string): Promise<Finding[]> {
  if (PROJECT_LOCK.isPyproject(python)) return []
  const file = join(folder, python)
  const text = await readFile(file, 'utf8')
  const source: Pick<Source, 'file' | 'text'> = {file, text}
  const findings: Finding[] = []
  for (const {start, content} of logicalLines(text)) {
    const at = [start, start + content.length] as const
    const other = /^(?:-r|--requirement|-c|--constraint)[\s=]+(\S+)$/.exec(content)?.[1]
    if (other !== undefined && !/^[a-z+]+:\/\//.test(other) && !(await isFile(join(dirname(file), other)))) {
      findings.push({...fromProblem(problemAt(source, at, `there is no file ${other}`), 'manifest')})
    }
    if (
      content.startsWith('-') ||
      /^[./~]/.test(content) ||
      /^[a-z+]+:\/\//.test(content) ||
      content.includes('${') ||
      /\.(?:whl|zip|tar\.gz)$/.test(content)
    )
      continue
    const requirement = content.replace(/\s+--[a-z-]+[=\s].*$/, '')
    if (REQUIREMENT.test(requirement)) continue
    const single = /^([^=<>!~\s]+)\s*=\s*([^=]\S*)$/.exec(requirement)
    const finding = fromProblem(problemAt(source, at, `pip cannot read the requirement "${requirement}"`), 'manifest')
    findings.push(single ? {...finding, fix: `${single[1]}==${single[2]}`} : finding)
  }
  return findings
}

/** Lines without comments and with continued ones joined, each with its offset. */
function logicalLines(text: string): {start: number; content: string}[] {
  const lines: {start: number; content: string}[] = []
  const pattern = /(?:\\\r?\n|[^\n])+/g
  for (const match of text.matchAll(pattern)) {
    const whole = match[0].replace(/\\\r?\n/g, ' ').replace(/(?:^|\s)#.*$/, '')
    const content = whole.trim()
    if (content !== '') lines.push({start: match.index + (whole.length - whole.trimStart().length), content})
  }
  return lines
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false
}

async function pythonFiles(folder: string): Promise<string[]> {
  const {readdir} = await import('node:fs/promises')
  return (await readdir(folder)).filter((name) => name.endsWith('.py'))
}
