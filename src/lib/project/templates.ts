import {existsSync} from 'node:fs'
import {readdir, readFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {CliError} from '../base/index.ts'
import {nearestName} from '../document/index.ts'

/** What a template is for, by name; a folder of templates/ that is not named here is found all the same. */
const PURPOSE: Record<string, string> = {
  'pytorch-ddp': 'a small network on handwritten digits, trained data-parallel with PyTorch, tracked and served',
  'pytorch-bench': 'how fast a rack trains: ResNet-50 or a GPT on made-up data, with a table over 1 to N nodes',
  'pytorch-compile': 'the digits by kernels that torch.compile makes, on a GPU or on one in software',
  plain: 'the least that runs: one Python process a node',
}

export interface Template {
  name: string
  purpose: string
  folder: string
}

/** The templates that came with this flexrack, the fullest first. */
export async function listTemplates(): Promise<Template[]> {
  const folder = templatesFolder(import.meta.dirname)
  const entries = await readdir(folder, {withFileTypes: true})
  const order = Object.keys(PURPOSE)
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({name}) => ({name, purpose: PURPOSE[name] ?? '', folder: join(folder, name)}))
    .sort((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1))
}

/** The template of a name. Throws USAGE with the nearest one. */
export async function findTemplate(name: string): Promise<Template> {
  const templates = await listTemplates()
  const found = templates.find((template) => template.name === name)
  if (found) return found
  const names = templates.map((template) => template.name)
  const nearest = nearestName(name, names)
  throw new CliError('USAGE', `there is no template "${name}"${nearest ? `; did you mean "${nearest}"?` : ''}`, {
    hint: `--template ${nearest ?? names[0] ?? 'plain'}`,
    details: {templates: names},
  })
}

/** The files of a template with {{name}} filled in: path below the project, and text. */
export async function renderTemplate(template: Template, name: string): Promise<{path: string; text: string}[]> {
  const entries = await readdir(template.folder, {withFileTypes: true, recursive: true})
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.pyc') && !entry.parentPath.endsWith('__pycache__'))
    .map((entry) => join(entry.parentPath, entry.name).slice(template.folder.length + 1))
    .sort()
  return Promise.all(
    paths.map(async (path) => ({
      // npm leaves files called .gitignore out of packages, so a template may call it `gitignore`.
      path: path.replace(/(^|\/)gitignore$/, '$1.gitignore'),
      text: (await readFile(join(template.folder, path), 'utf8')).replaceAll('{{name}}', name),
    })),
  )
}

/** Looks upwards from here: the place differs between sources and the built program. */
function templatesFolder(from: string): string {
  const folder = join(from, 'templates')
  if (existsSync(join(folder, 'plain', 'flexrack.yaml'))) return folder
  if (dirname(from) === from) throw new Error('templates/ is missing from this installation of flexrack')
  return templatesFolder(dirname(from))
}
