#!/usr/bin/env node
// Runs the TypeScript sources directly (Node strips the types), without a build.
import {readFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import {execute, settings} from '@oclif/core'

settings.enableAutoTranspile = false
const root = fileURLToPath(new URL('..', import.meta.url))
const pjson = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const loadOptions = {root, pjson: {...pjson, oclif: {...pjson.oclif, commands: './src/commands'}}, ignoreManifest: true}
execute({loadOptions})
