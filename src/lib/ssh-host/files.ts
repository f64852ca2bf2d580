import {join} from 'node:path'
import {ensurePrivateFolder, textIfThere, userPaths, writeWhole, type Context} from '../base/index.ts'
import {ensureKey} from '../ssh/index.ts'
import {hostsText, knownHostsText, readHosts, type HostSite, type HostsFile} from './hosts-file.ts'

/** Where the hosts, their keys and the key that is let in lie: $XDG_CONFIG_HOME/flexrack/ssh. */
export interface SshFiles {
  folder: string
  hosts: string
  knownHosts: string
  key: string
}

export function sshFiles(context: Context): SshFiles {
  const folder = join(userPaths(context.env).config, 'ssh')
  return {
    folder,
    hosts: join(folder, 'hosts.conf'),
    knownHosts: join(folder, 'known_hosts'),
    key: join(folder, 'id_ed25519'),
  }
}

/** What the file of hosts has now; undefined where there is none. Errors: CONFLICT where it is not ours. */
export async function readHostsFile({hosts}: SshFiles): Promise<(HostsFile & {text: string}) | undefined> {
  const text = await textIfThere(hosts)
  return text === undefined ? undefined : {...readHosts(text, hosts), text}
}

export function hostSite({knownHosts, key}: SshFiles, program: string[], context: Context): HostSite {
  return {knownHosts, key, program, ...(context.env.FLEXRACK_HOME && {home: context.env.FLEXRACK_HOME})}
}

/** Whether the files say this already. */
export async function areWritten(files: SshFiles, content: HostsFile, site: HostSite): Promise<boolean> {
  const [hosts, known, key] = await Promise.all([files.hosts, files.knownHosts, `${files.key}.pub`].map(textIfThere))
  return hosts === hostsText(content, site) && known === knownHostsText(content.hosts) && key !== undefined
}

/** The keys before the hosts that name them. */
export async function writeHosts(files: SshFiles, content: HostsFile, site: HostSite): Promise<void> {
  await ensurePrivateFolder(files.folder)
  await ensureKey(files.key, 'flexrack')
  await writeWhole(files.knownHosts, knownHostsText(content.hosts))
  await writeWhole(files.hosts, hostsText(content, site))
}
