#!/usr/bin/env node
// Runs the TypeScript sources directly (Node strips the types), without a build.
import {fileURLToPath} from 'node:url'
import {settings} from '@oclif/core'
import {main} from '../src/cli/main.ts'

settings.enableAutoTranspile = false
main({root: fileURLToPath(new URL('..', import.meta.url)), code: 'src'})
