import {execFileSync} from 'node:child_process'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, type Context} from '../../src/lib/base/index.ts'
import {openHost, type Host} from '../../src/lib/host/index.ts'
import type {Manifest} from '../../src/lib/manifest/types.ts'
import {planWorkspace, upWorkspace} from '../../src/lib/workspace/index.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'

/** Fetches build backends, and compiles, on machines that may be busy. */
const LONG = 900_000
const SAY = "def main(): print('said')\n"
const project = (requires: string, backend: string): string => `[build-system]
requires = ["${requires}"]
build-backend = "${backend}"

[project]
name = "digits"
version = "1.0"
description = "one"
scripts = {digits-say = "digits.say:main"}
`
/** A module whose only function gives a number. */
const source = (number: number): string => `#include <Python.h>
static PyObject *give(PyObject *self, PyObject *none) { return PyLong_FromLong(${number}); }
static PyMethodDef methods[] = {{"give", give, METH_NOARGS, ""}, {0}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "fast", 0, -1, methods};
PyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&module); }
`
let rack: TestLocalRack
let host: Host
let folder: string
let context: Context

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-backends-'))
  const environments = join(folder, 'environments')
  await mkdir(environments, {mode: 0o700})
  rack = await startLocalRack({nodes: 1, environments})
  host = await openHost(rack.fleet(), rack.rack.nodes[0] as (typeof rack.rack.nodes)[0], rack.context())
  context = makeContext({env: {...process.env, FLEXRACK_HOME: join(folder, 'home')}})
}, LONG)
afterAll(async () => {
  await rack?.stop()
  await rm(folder, {recursive: true, force: true})
})

/** A project of these files, and where its environment is. */
async function up(name: string, files: Record<string, string>): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name, path)), {recursive: true})
    await writeFile(join(folder, name, path), text)
  }
  const manifest: Manifest = {
    path: join(folder, name, 'flexrack.yaml'),
    folder: join(folder, name),
    name,
    workspace: {python: 'pyproject.toml', exclude: [], forward: [], env: {}},
    tracking: {experiment: name},
    endpoints: {},
  }
  const [{environment} = {environment: undefined}] = [...(await upWorkspace([host], manifest, context)).values()]
  expect((await planWorkspace([host], manifest, context)).plan.steps).toEqual([])
  return environment?.path ?? ''
}

const run = (environment: string, ...words: string[]): string =>
  execFileSync(join(environment, 'bin', words[0] as string), words.slice(1), {cwd: '/', encoding: 'utf8'}).trim()

test.each([
  ['hatchling', project('hatchling', 'hatchling.build')],
  ['poetry', project('poetry-core>=2', 'poetry.core.masonry.api')],
  ['flit', project('flit_core>=3.4', 'flit_core.buildapi')],
])(
  'a project whose build system is %s is installed, editable',
  async (name, pyproject) => {
    const files = {'pyproject.toml': pyproject, 'src/digits/__init__.py': '"""Digits."""\n', 'src/digits/say.py': SAY}
    const environment = await up(name, files)
    expect(run(environment, 'digits-say')).toBe('said')
    expect(await up(name, {'src/digits/say.py': SAY.replace('said', 'anew')})).toBe(environment)
    expect(run(environment, 'digits-say')).toBe('anew')
  },
  LONG,
)

test.each([
  [
    'setuptools',
    {
      'pyproject.toml': project('setuptools>=77', 'setuptools.build_meta'),
      'setup.py':
        'from setuptools import Extension, setup\nsetup(ext_modules=[Extension("digits.fast", ["src/digits/fast.c"])])\n',
    },
  ],
  [
    'scikit-build-core',
    {
      'pyproject.toml': `${project('scikit-build-core', 'scikit_build_core.build')}\n[tool.scikit-build]\nwheel.packages = ["src/digits"]\n`,
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.18)\nproject(digits C)\nfind_package(Python REQUIRED COMPONENTS Development.Module)\nPython_add_library(fast MODULE src/digits/fast.c WITH_SOABI)\ninstall(TARGETS fast DESTINATION digits)\n',
    },
  ],
  [
    'meson-python',
    {
      'pyproject.toml': project('meson-python', 'mesonpy'),
      'meson.build':
        "project('digits', 'c', version: '1.0')\npy = import('python').find_installation(pure: false)\npy.extension_module('fast', 'src/digits/fast.c', install: true, subdir: 'digits')\npy.install_sources('src/digits/__init__.py', 'src/digits/say.py', subdir: 'digits')\n",
    },
  ],
])(
  'an extension module that %s compiles is compiled anew where its source changes',
  async (name, more) => {
    const files = {...more, 'src/digits/__init__.py': '', 'src/digits/say.py': SAY, 'src/digits/fast.c': source(1)}
    const give = (environment: string): string =>
      run(environment, 'python', '-c', 'from digits.fast import give; print(give())')
    const environment = await up(name, files)
    expect([give(environment), run(environment, 'digits-say')]).toEqual(['1', 'said'])
    const anew = await up(name, {'src/digits/fast.c': source(2)})
    expect(anew).not.toBe(environment)
    expect(give(anew)).toBe('2')
    // What is no source of it changes nothing.
    expect(await up(name, {'src/digits/say.py': SAY.replace('said', 'anew')})).toBe(anew)
  },
  LONG,
)
