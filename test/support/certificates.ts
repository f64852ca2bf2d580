import {execFileSync} from 'node:child_process'
import {mkdir, writeFile} from 'node:fs/promises'
import {isIP} from 'node:net'
import {join} from 'node:path'

/** Files (PEM). */
export interface Certificates {
  /** What signs the certificate. */
  ca: string
  key: string
  cert: string
}

/** A server's certificate for a host name or an address, and an authority of its own, in the folder. */
export async function certificateFor(folder: string, host: string): Promise<Certificates> {
  const at = join(folder, `tls-${host}`)
  await mkdir(at, {recursive: true})
  const file = (name: string): string => join(at, name)
  const [ca, key, cert] = [file('ca.pem'), file('key'), file('cert')]
  await writeFile(file('more'), `subjectAltName=${isIP(host) === 0 ? 'DNS' : 'IP'}:${host}\n`)
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, {stdio: 'ignore'})
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const days = ['-days', '2']
  openssl('req', '-x509', ...fresh, ...days, '-subj', '/CN=lab', '-keyout', file('ca.key'), '-out', ca)
  openssl('req', ...fresh, '-subj', `/CN=${host}`, '-keyout', key, '-out', file('request'))
  const signer = ['-CA', ca, '-CAkey', file('ca.key'), '-CAcreateserial']
  openssl('x509', '-req', ...days, '-in', file('request'), ...signer, '-extfile', file('more'), '-out', cert)
  return {ca, key, cert}
}
