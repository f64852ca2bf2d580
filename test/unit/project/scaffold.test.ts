import {mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {loadManifest} from '../../../src/lib/manifest/index.ts'
import {makeContext} from '../../../src/lib/base/index.ts'
import * as project from '../../../src/lib/project/index.ts'
import {
  listTemplates,
  planScaffold,
  projectName,
  type Scaffolded,
  type ScaffoldInput,
} from '../../../src/lib/project/index.ts'

const scaffold = (input: ScaffoldInput): Promise<Scaffolded> => project.scaffold(input, makeContext())
let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-project-'))
})
afterEach(() => rm(home, {recursive: true, force: true}))

it.each([
  ['Digits', 'digits'],
  ['My Digits!', 'my-digits'],
  ['..hidden', 'hidden'],
  ['Größe', 'gro-e'],
  ['2048', '2048'],
  ['---', 'project'],
  ['x'.repeat(60), 'x'.repeat(40)],
])('makes out of the folder %s the project name %s', (folder, name) => {
  expect(projectName(join('/', folder))).toBe(name)
})

it.each([
  ['pytorch-ddp', 'train.py'],
  ['pytorch-bench', 'bench.py'],
  ['pytorch-compile', 'train.py'],
  ['plain', 'train.py'],
])('writes the template %s as a project whose manifest is valid', async (template, script) => {
  const folder = join(home, 'Digits 2')
  const made = await scaffold({folder, template})
  expect(made).toMatchObject({folder, name: 'digits-2', template})
  expect(made.files).toEqual(expect.arrayContaining(['flexrack.yaml', script, '.gitignore']))
  expect(await loadManifest(folder)).toMatchObject({
    name: 'digits-2',
    train: {command: expect.arrayContaining([script])},
  })
  for (const file of made.files) expect(await readFile(join(folder, file), 'utf8')).not.toContain('{{')
})

it('offers every template with what it is for', async () => {
  expect((await listTemplates()).map(({name, purpose}) => [name, purpose !== ''])).toEqual([
    ['pytorch-ddp', true],
    ['pytorch-bench', true],
    ['pytorch-compile', true],
    ['plain', true],
  ])
  await expect(planScaffold({folder: home, template: 'pytorch-dpp'})).rejects.toMatchObject({
    code: 'USAGE',
    message: 'there is no template "pytorch-dpp"; did you mean "pytorch-ddp"?',
    hint: '--template pytorch-ddp',
  })
})

it('pins the same packages in every template, so that tests of the benchmark can use the environment of the digits', async () => {
  const [digits, bench] = await Promise.all(['pytorch-ddp', 'pytorch-bench'].map(requirementsOf))
  expect(bench).toEqual(['torch==2.13.0', 'numpy==2.4.6', 'mlflow-skinny==3.17.2'])
  expect(digits).toEqual(expect.arrayContaining(bench ?? []))
})

it('writes nothing by planning', async () => {
  const plan = await planScaffold({folder: join(home, 'x'), template: 'plain'})
  expect(plan.steps.map((step) => step.id)).toEqual(expect.arrayContaining(['write:flexrack.yaml', 'write:train.py']))
  expect(await readdir(home)).toEqual([])
})

it('refuses to write over files, names them, and does with force', async () => {
  await writeFile(join(home, 'train.py'), 'mine\n')
  await writeFile(join(home, 'other.txt'), 'mine\n')
  await expect(scaffold({folder: home, template: 'plain', name: 'x'})).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('already has train.py'),
  })
  expect(await readdir(home)).toEqual(['other.txt', 'train.py'])
  await scaffold({folder: home, template: 'plain', name: 'x', force: true})
  expect(await readFile(join(home, 'train.py'), 'utf8')).not.toBe('mine\n')
  expect(await readFile(join(home, 'other.txt'), 'utf8')).toBe('mine\n')
})

it('never writes through a link, not even with force', async () => {
  const outside = join(home, 'outside.py')
  await writeFile(outside, 'outside\n')
  const folder = join(home, 'project')
  await mkdir(folder)
  await symlink(outside, join(folder, 'train.py'))
  await expect(scaffold({folder, template: 'plain', force: true})).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('is a link'),
  })
  expect(await readFile(outside, 'utf8')).toBe('outside\n')
  await expect(scaffold({folder: outside, template: 'plain'})).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('is a file'),
  })
})

it('refuses a name that could not be used, and offers one that can', async () => {
  await expect(scaffold({folder: home, template: 'plain', name: 'My Project'})).rejects.toMatchObject({
    code: 'USAGE',
    hint: '--name my-project',
  })
})

async function requirementsOf(template: string): Promise<string[]> {
  const folder = join(home, template)
  await scaffold({folder, template})
  return (await readFile(join(folder, 'requirements.txt'), 'utf8')).trim().split('\n')
}
