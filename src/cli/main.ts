import {readFileSync} from 'node:fs'
import type {Interfaces} from '@oclif/core'
import {allWritten, watchPipes} from './terminal/pipe.ts'

export interface Installation {
  /** Folder of package.json. */
  root: string
  /** Folder of the commands and of this file's neighbours: dist or src. */
  code: 'dist' | 'src'
}

/** Runs the command line and ends the process. bin/run.js and bin/dev.js call it; nothing else does. */
export async function main({root, code}: Installation): Promise<never> {
  watchPipes()
  const argv = helpArguments(process.argv.slice(2))
  const json = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as Interfaces.PJSON
  if (['--version', '-v', 'version'].includes(argv[0] ?? '')) {
    process.stdout.write(`${json.name}/${json.version} ${process.platform}-${process.arch} node-${process.version}\n`)
    process.exit(0)
  }
  const {run, settings} = await import('@oclif/core')
  // Else oclif would look for tsx, ts-node and sources wherever NODE_ENV is development or test.
  settings.enableAutoTranspile = false
  const fail = async (error: unknown): Promise<never> => {
    const {showError} = await import('./errors/show.ts')
    const status = await showError(error, {argv, env: process.env})
    await allWritten()
    process.exit(status)
  }
  // An error in a callback: no command is there to catch it and to release what it holds.
  const crash = async (error: unknown): Promise<never> => {
    process.removeAllListeners('uncaughtException').removeAllListeners('unhandledRejection')
    process.on('uncaughtException', () => {}).on('unhandledRejection', () => {})
    const {closeEverything} = await import('./base/context.ts')
    await closeEverything()
    return fail(error)
  }
  process.on('uncaughtException', crash).on('unhandledRejection', crash)
  try {
    await run(argv, {root, pjson: configure(json, code, argv), ...(code === 'src' && {ignoreManifest: true})})
    await allWritten()
    // A socket somebody forgot must not hold us.
    process.exit(process.exitCode ?? 0)
  } catch (error) {
    return fail(error)
  }
}

/** `flexrack help train` is `flexrack train --help`. */
function helpArguments(argv: string[]): string[] {
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv
}

/** package.json as oclif gets it: where the commands and the help are, and who answers to an unknown command. */
function configure(json: Interfaces.PJSON, code: 'dist' | 'src', argv: readonly string[]): Interfaces.PJSON {
  const end = argv.indexOf('--')
  const canAsk =
    process.stdin.isTTY && process.stderr.isTTY && !(end === -1 ? argv : argv.slice(0, end)).includes('--json')
  const plugins = (json.oclif.plugins ?? []).filter((name) => canAsk || !name.endsWith('/plugin-not-found'))
  const file = (name: string): string => `./${code}/cli/${name}.${code === 'src' ? 'ts' : 'js'}`
  const hooks: Record<string, string> = canAsk ? {} : {command_not_found: file('base/not-found')}
  return {...json, oclif: {...json.oclif, commands: `./${code}/commands`, helpClass: file('base/help'), plugins, hooks}}
}
