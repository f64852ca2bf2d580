import {rm} from 'node:fs/promises'
import {CliError, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {FromStep, Handlers} from '../plan/index.ts'
import {writeHosts, sshFiles, hostSite} from './files.ts'
import {isHostKey, type HostsFile} from './hosts-file.ts'
import {withInclude, withoutInclude} from './include.ts'
import type {SshHost} from './types.ts'
import {readUserConfig, writeUserConfig} from './user-config.ts'

/** A host whose key may only be known once its node has made it. */
export type HostToWrite = Omit<SshHost, 'hostKey'> & {hostKey: string | FromStep}

export type SshHostKinds = {
  /** The output: the public key. */
  'ssh-host.key': {input: {node: string; project: string}; output: string}
  'ssh-host.write': {
    input: {file: string; hosts: HostToWrite[]; madeConfig: boolean; program: string[]}
    output: SshHost[]
  }
  'ssh-host.include': {input: {config: string; file: string}; output: void}
  /** `made`: the file was made for the line; it goes where nothing else is in it. */
  'ssh-host.exclude': {input: {config: string; file: string; made: boolean}; output: void}
  'ssh-host.forget': {input: {folder: string}; output: void}
}

export interface SshHostEnv {
  host(node: string): Host
  context: Context
}

export const SSH_HOST_HANDLERS: Handlers<SshHostKinds, SshHostEnv> = {
  'ssh-host.key': async ({node, project}, _done, {host, context}) =>
    wholeKey(node, (await host(node).call('workspace.ssh_host', {project}, {signal: context.signal})).host_key),
  'ssh-host.write': async ({hosts, madeConfig, program}, done, {context}) => {
    const whole = hosts.map((one): SshHost => ({
      ...one,
      hostKey: typeof one.hostKey === 'string' ? one.hostKey : done.of('ssh-host.key', one.hostKey),
    }))
    const content: HostsFile = {hosts: whole, madeConfig}
    const files = sshFiles(context)
    await writeHosts(files, content, hostSite(files, program, context))
    return whole
  },
  'ssh-host.include': async ({file}, _done, {context}) => {
    const config = await readUserConfig(context)
    await writeUserConfig(config, withInclude(config.text ?? '', file))
  },
  'ssh-host.exclude': async ({file, made}, _done, {context}) => {
    const config = await readUserConfig(context)
    if (config.text === undefined) return
    const text = withoutInclude(config.text, file)
    if (made && text === '') await rm(config.file)
    else await writeUserConfig(config, text)
  },
  'ssh-host.forget': async (_input, _done, {context}) => {
    await rm(sshFiles(context).folder, {recursive: true})
  },
}

/** Errors: REMOTE_FAILED for what is no key; it would be written down. */
export function wholeKey(node: string, key: unknown): string {
  if (isHostKey(key)) return key
  throw new CliError('REMOTE_FAILED', `${node} answered with what is not a host key`, {details: {node}})
}
