import {spawn} from 'node:child_process'
import {mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import type {PeopleFacts} from '../../../../src/lib/head/index.ts'
import {passForms, type Typed} from '../../../support/device-browser.ts'
import type {TestHead} from '../../../support/head.ts'
import {LDAP_BASE, LDAP_GROUPS, startOidcProvider, startSlapd} from '../../../support/identity-servers.ts'
import {certificateFor} from '../../../support/certificates.ts'
import {buildProgram, flexrack, type Ended} from '../../../support/program.ts'

/** The commands, with a provider and a directory that are not ours: oidc-provider and OpenLDAP. */
export function providersTests(given: () => TestHead): void {
  describe('identity providers', () => {
    let head: TestHead
    let folder: string
    let ca: string
    let oidc: Awaited<ReturnType<typeof startOidcProvider>>
    let slapd: Awaited<ReturnType<typeof startSlapd>>
    let settings: {oidc: Record<string, unknown>; ldap: Record<string, unknown>; teams: Record<string, string>}

    const command = (args: string[], stdin = ''): Promise<Ended> =>
      new Promise((done) => {
        const child = spawn(process.execPath, [resolve('bin/run.js'), ...args, '--rack', 'local'], {env: head.rack.env})
        let [stdout, stderr] = ['', '']
        child.stdout.on('data', (chunk) => (stdout += String(chunk)))
        child.stderr.on('data', (chunk) => (stderr += String(chunk)))
        child.once('close', (status, signal) => done({status, signal, stdout, stderr}))
        child.stdin.end(stdin)
      })
    /** Logs in while somebody answers the provider's forms. */
    const loginAtProvider = async (typed: Typed): Promise<Ended> => {
      let pages: Promise<string> | undefined
      const ended = await flexrack(['login', '--oidc', '--rack', 'local'], {
        env: head.rack.env,
        onOutput: ({stderr}) => {
          const address = /open (https:\S+) in a browser/.exec(stderr)?.[1]
          if (address) pages ??= passForms(address, typed, ca)
        },
      })
      await pages
      return ended
    }
    const whoAmI = async (): Promise<unknown> => JSON.parse((await command(['whoami', '--json'])).stdout)

    beforeAll(async () => {
      head = given()
      buildProgram()
      folder = await mkdtemp(join(tmpdir(), 'flexrack-identity-'))
      const certificates = await certificateFor(folder, 'localhost')
      ;[oidc, slapd] = await Promise.all([startOidcProvider(certificates), startSlapd(folder, certificates)])
      ca = await readFile(certificates.ca, 'utf8')
      settings = {
        oidc: {issuer: oidc.issuer, client_id: 'flexrack', ca: certificates.ca},
        ldap: {
          url: `ldap://localhost:${slapd.port}`,
          starttls: true,
          base: LDAP_BASE,
          group_base: LDAP_GROUPS,
          ca: certificates.ca,
        },
        teams: {'ml-vision': 'seers', [`CN=vision, ou=groups,dc=lab`]: 'seers', [`cn=gpu,${LDAP_GROUPS}`]: 'owners'},
      }
      const grant = {to: 'team:seers', role: 'member'}
      await head.connection.request('PUT', '/flexrack/v1/people/projects/sight', {})
      await head.connection.request('PUT', '/flexrack/v1/people/teams/seers', {members: []})
      await head.connection.request('PUT', '/flexrack/v1/people/projects/sight/roles', grant)
    }, 600_000)
    afterAll(async () => {
      if (head) await command(['logout'])
      await Promise.all([oidc?.stop(), slapd?.stop()])
      if (folder) await rm(folder, {recursive: true, force: true})
    }, 60_000)

    test('a provider that nobody could log in by is not taken, with the reason, and one that is shows no secret', async () => {
      const other = await certificateFor(folder, 'other.example')
      const {ca: _ca, ...untrusted} = settings.oidc
      const wrong: [object, RegExp][] = [
        [{oidc: untrusted}, /certificate/],
        [{oidc: {...settings.oidc, ca: other.ca}}, /certificate/],
        [{oidc: {...settings.oidc, client_id: 'nobody'}}, /nobody no device code: invalid_client/],
        [{oidc: {...settings.oidc, client_id: 'web', client_secret: 'secret of web'}}, /web no device code/],
        [{ldap: {...settings.ldap, starttls: false, bind_dn: 'cn=root,dc=lab', bind_password: 'root'}}, /onfidential/],
        [{ldap: {...settings.ldap, ca: other.ca}}, /certificate/],
        // The certificate is that of localhost, whatever the address leads to.
        [{ldap: {...settings.ldap, url: `ldap://127.0.0.1:${slapd.port}`}}, /127\.0\.0\.1/],
        [{ldap: {...settings.ldap, base: 'ou=nobody,dc=lab'}}, /ou=nobody,dc=lab: NoSuchObjectError/],
        [{ldap: {...settings.ldap, base: undefined}}, /ldap\.base/],
        [{ldap: {...settings.ldap, host: 'x'}}, /nothing called host/],
      ]
      const put = (body: object): Promise<unknown> =>
        head.connection.request('PUT', '/flexrack/v1/people/providers', body)
      for (const [given, why] of wrong) await expect(put(given), JSON.stringify(given)).rejects.toThrow(why)
      expect((await command(['head', 'identity'])).stdout).toContain('No identity provider')
      const {stderr: none} = await command(['login', '--oidc'])
      expect(none).toContain('no identity provider')
      const bound = {...settings, ldap: {...settings.ldap, bind_dn: 'cn=root,dc=lab', bind_password: 'root'}}
      const file = join(folder, 'login.json')
      await writeFile(file, JSON.stringify(bound))
      expect((await command(['head', 'identity', file])).stderr).toBe('')
      const {stdout} = await command(['head', 'identity', '--json'])
      expect(JSON.parse(stdout)).toMatchObject({problems: {oidc: null, ldap: null}, ldap: {bind_dn: 'cn=root,dc=lab'}})
      expect(stdout).not.toContain('bind_password')
      expect((await stat(join(head.host.root, 'head/login.json'))).mode & 0o777).toBe(0o600)
      await put(settings)
    }, 600_000)

    test('login --oidc shows where to go, and is who was let in there, in the teams of their groups', async () => {
      expect(await loginAtProvider({login: 'carol', password: 'x'})).toMatchObject({status: 0})
      expect(await whoAmI()).toMatchObject({
        user: 'carol',
        admin: false,
        teams: ['seers'],
        projects: {sight: 'member'},
      })
      const {status, stderr} = await command(['head', 'identity'])
      expect([status, stderr], "is an admin's").toEqual([expect.any(Number), expect.stringContaining('an admin')])
      expect((await command(['logout'])).status).toBe(0)
      const denied = await loginAtProvider({login: 'carol', password: 'x', abort: 'yes'})
      expect([denied.status === 0, denied.stderr]).toEqual([false, expect.stringContaining('denied')])
      expect(await whoAmI()).toMatchObject({user: null, admin: true})
    }, 600_000)

    test('login --ldap takes the password of the directory over StartTLS, and the groups that it has there', async () => {
      const logIn = (user: string, password: string): Promise<Ended> =>
        command(['login', '--ldap', '--user', user, '--password-stdin'], `${password}\n`)
      const wrong = await logIn('dora', 'secret of eve')
      expect([wrong.status === 0, wrong.stderr]).toEqual([false, expect.stringContaining('does not know this name')])
      for (const [user, password] of [
        ['dora', ''],
        ['*', 'secret of dora'],
        ['*)(uid=*', 'secret of dora'],
      ])
        await expect(
          head.connection.request('POST', '/flexrack/v1/people/login/ldap', {user, password}),
          user,
        ).rejects.toThrow(/does not know this name/)
      expect(await logIn('dora', 'secret of dora')).toMatchObject({status: 0})
      expect(await whoAmI()).toMatchObject({user: 'dora', teams: ['owners', 'seers'], projects: {sight: 'member'}})
      await command(['logout'])
      // What somebody is in is asked anew, and who is in nothing is in no team.
      await head.connection.request('PUT', '/flexrack/v1/people/providers', {...settings, teams: {}})
      for (const user of ['dora', 'eve']) {
        const given = {user, password: `secret of ${user}`}
        await head.connection.request('POST', '/flexrack/v1/people/login/ldap', given)
      }
      const {users} = await head.connection.request<PeopleFacts>('GET', '/flexrack/v1/people')
      expect(users).toMatchObject({dora: {source: 'ldap', teams: []}, eve: {source: 'ldap', teams: []}})
      expect((await command(['head', 'identity', '--remove'])).status).toBe(0)
      expect((await logIn('dora', 'secret of dora')).stderr).toContain('no directory')
      const {stdout} = await command(['audit', '--json'])
      expect(stdout).toContain('identity.set')
      expect(stdout).not.toContain('secret of')
    }, 600_000)
  })
}
