#!/usr/bin/env node
// Runs the TypeScript sources directly (Node strips the types), without a build.
import {fileURLToPath} from 'node:url'
import {main} from '../src/cli/main.ts'

main({root: fileURLToPath(new URL('..', import.meta.url)), code: 'src'})
