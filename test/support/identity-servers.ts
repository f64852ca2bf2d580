import {spawn, type ChildProcess} from 'node:child_process'
import {once} from 'node:events'
import {mkdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline/promises'
import {fileURLToPath} from 'node:url'
import {Client} from 'ldapts'
import type {Certificates} from './certificates.ts'
import {freePort} from './sshd.ts'

export const LDAP_BASE = 'ou=people,dc=lab'
export const LDAP_GROUPS = 'ou=groups,dc=lab'

/** A process that ends by itself where this one is killed. */
function start(program: string, args: string[], stdio: 'ignore' | 'pipe'): ChildProcess {
  return spawn('timeout', ['--foreground', '600', program, ...args], {stdio: ['ignore', stdio, 'ignore']})
}

/** oidc-provider (npm), with TLS. */
export async function startOidcProvider({key, cert}: Certificates): Promise<{issuer: string; stop(): Promise<void>}> {
  const file = fileURLToPath(new URL('../fixtures/people/oidc-provider.mjs', import.meta.url))
  const child = start(process.execPath, [file, key, cert], 'pipe')
  const [issuer] = (await once(createInterface(child.stdout!), 'line')) as [string]
  return {issuer, stop: () => end(child)}
}

/**
 * OpenLDAP's slapd, which takes a password over TLS only: dora, in `cn=vision` by memberOf and in `cn=gpu` by memberUid,
 * and eve, in none. Their password is `secret of NAME`.
 */
export async function startSlapd(
  folder: string,
  {key, cert}: Certificates,
): Promise<{port: number; stop(): Promise<void>}> {
  const place = join(folder, 'slapd')
  await mkdir(join(place, 'db'), {recursive: true})
  const port = await freePort()
  const schemas = ['core', 'cosine', 'inetorgperson', 'nis'].map((one) => `include /etc/ldap/schema/${one}.schema`)
  const lines = [
    ...schemas,
    'modulepath /usr/lib/ldap',
    'moduleload back_mdb',
    'moduleload memberof',
    `TLSCertificateFile ${cert}`,
    `TLSCertificateKeyFile ${key}`,
    'security simple_bind=128',
    'database mdb',
    'suffix "dc=lab"',
    'rootdn "cn=root,dc=lab"',
    'rootpw root',
    `directory ${join(place, 'db')}`,
    'overlay memberof',
    'access to attrs=userPassword by anonymous auth by * none',
    'access to * by * read',
  ]
  await writeFile(join(place, 'slapd.conf'), `${lines.join('\n')}\n`)
  const child = start(
    '/usr/sbin/slapd',
    ['-d', '0', '-h', `ldap://127.0.0.1:${port}`, '-f', join(place, 'slapd.conf')],
    'ignore',
  )
  const client = new Client({url: `ldap://127.0.0.1:${port}`})
  for (;;) {
    try {
      await client.startTLS({rejectUnauthorized: false})
      break
    } catch (error) {
      if (child.exitCode !== null) throw new Error(`slapd ended with ${child.exitCode}`, {cause: error})
      await new Promise((wake) => setTimeout(wake, 50))
    }
  }
  await client.bind('cn=root,dc=lab', 'root')
  const person = (uid: string): [string, Record<string, string | string[]>] => [
    `uid=${uid},${LDAP_BASE}`,
    {objectClass: ['inetOrgPerson'], uid, cn: uid, sn: uid, userPassword: `secret of ${uid}`},
  ]
  const dora = `uid=dora,${LDAP_BASE}`
  const entries: [string, Record<string, string | string[]>][] = [
    ['dc=lab', {objectClass: ['dcObject', 'organization'], dc: 'lab', o: 'lab'}],
    [LDAP_BASE, {objectClass: ['organizationalUnit'], ou: 'people'}],
    [LDAP_GROUPS, {objectClass: ['organizationalUnit'], ou: 'groups'}],
    person('dora'),
    person('eve'),
    [`cn=Vision,${LDAP_GROUPS}`, {objectClass: ['groupOfNames'], cn: 'Vision', member: [dora]}],
    [`cn=gpu,${LDAP_GROUPS}`, {objectClass: ['posixGroup'], cn: 'gpu', gidNumber: '7', memberUid: ['dora']}],
  ]
  for (const [dn, attributes] of entries) await client.add(dn, attributes)
  await client.unbind()
  return {port, stop: () => end(child)}
}

async function end(child: ChildProcess): Promise<void> {
  child.kill()
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
