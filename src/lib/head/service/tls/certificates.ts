import 'reflect-metadata'
import {webcrypto, X509Certificate} from 'node:crypto'
import {isIP} from 'node:net'
import * as x509 from '@peculiar/x509'

/**
 * A private key and its certificate, both PEM; behind the certificate may stand those that lead from it to an
 * authority.
 */
export interface Identity {
  key: string
  certificate: string
}

/** What a certificate is for: to be called by its names, or to call. */
export type Usage = 'server' | 'client'

const ALGORITHM = {name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256'}
/** The clocks of a rack's machines differ. */
const CLOCKS_DIFFER_MS = 24 * 3_600_000
const {ExtendedKeyUsage} = x509

x509.cryptoProvider.set(webcrypto)

/** A new authority: a P-256 key and a certificate that it signed itself. It may sign leaves and its own successor. */
export async function makeAuthority(name: string, from: number, until: number): Promise<Identity> {
  const keys = await newKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: subject(name),
    keys,
    ...valid(from, until),
    signingAlgorithm: ALGORITHM,
    extensions: await authorityExtensions(keys.publicKey),
  })
  return {key: await exportKey(keys.privateKey), certificate: certificate.toString('pem')}
}

/**
 * The successor's certificate once more, signed by the authority that everybody knows: a path to the new one for who
 * only trusts the old one. PEM.
 */
export async function crossSign(old: Identity, successor: Identity): Promise<string> {
  const {signingKey, own} = await signer(old)
  const fresh = new x509.X509Certificate(successor.certificate)
  const publicKey = await fresh.publicKey.export(webcrypto)
  const certificate = await x509.X509CertificateGenerator.create({
    subject: fresh.subject,
    issuer: own.subject,
    publicKey,
    signingKey,
    signingAlgorithm: ALGORITHM,
    notBefore: fresh.notBefore,
    notAfter: own.notAfter,
    extensions: await authorityExtensions(publicKey),
  })
  return certificate.toString('pem')
}

/**
 * A key and a certificate for it that the authority signs. `names`: host names and addresses, one at least where it is
 * called; the certificate never outlives the authority.
 */
export async function issue(
  authority: Identity,
  {name, names, usage, from, until}: {name: string; names: string[]; usage: Usage; from: number; until: number},
): Promise<Identity> {
  const {signingKey, own} = await signer(authority)
  const keys = await newKeys()
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subject(name),
    issuer: own.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: ALGORITHM,
    ...valid(from, Math.min(until, own.notAfter.getTime())),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(
        [usage === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth],
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(own.publicKey),
      ...(names.length > 0
        ? [
            new x509.SubjectAlternativeNameExtension(
              names.map((one) => (isIP(one) ? {type: 'ip' as const, value: one} : {type: 'dns' as const, value: one})),
            ),
          ]
        : []),
    ],
  })
  return {key: await exportKey(keys.privateKey), certificate: certificate.toString('pem')}
}

/** When the first certificate of a PEM text ends, milliseconds since 1970. Throws where there is none. */
export function endOf(pem: string): number {
  return new X509Certificate(pem).validToDate.getTime()
}

/** Whether the first certificate of a PEM text is for all of these host names and addresses. */
export function isFor(pem: string, names: string[]): boolean {
  const certificate = new X509Certificate(pem)
  return names.every((name) => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined)
}

/** Whether an authority has signed the first certificate of a PEM text. */
export function isSignedBy(pem: string, authority: string): boolean {
  return new X509Certificate(pem).verify(new X509Certificate(authority).publicKey)
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}

async function signer({
  key,
  certificate,
}: Identity): Promise<{signingKey: webcrypto.CryptoKey; own: x509.X509Certificate}> {
  const signingKey = await webcrypto.subtle.importKey('pkcs8', x509.PemConverter.decodeFirst(key), ALGORITHM, false, [
    'sign',
  ])
  return {signingKey, own: new x509.X509Certificate(certificate)}
}

function authorityExtensions(publicKey: webcrypto.CryptoKey): Promise<x509.Extension[]> {
  return Promise.all([
    // One below it: the certificate of its successor.
    new x509.BasicConstraintsExtension(true, 1, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    x509.SubjectKeyIdentifierExtension.create(publicKey),
  ])
}

function subject(name: string): string {
  return new x509.Name([{CN: [name]}]).toString()
}

function valid(from: number, until: number): {notBefore: Date; notAfter: Date} {
  return {notBefore: new Date(from - CLOCKS_DIFFER_MS), notAfter: new Date(until)}
}
