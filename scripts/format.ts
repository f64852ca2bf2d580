/** npm run format: lays out the C and C++ of native/ as its .clang-format says. */
import {execFileSync} from 'node:child_process'
import {join, resolve} from 'node:path'
import {nativeSources, pythonTools} from './testing/python-tools.ts'

execFileSync(join(await pythonTools(), 'clang-format'), ['-i', ...nativeSources()], {cwd: resolve(import.meta.dirname, '..'), stdio: 'inherit'})
