import {createHash} from 'node:crypto'
import {CliError} from '../base/index.ts'

/** Of in-toto statements: https://github.com/in-toto/attestation, spec/v1/envelope.md. */
export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
/** Most bytes of an envelope that is read. */
export const MOST_ENVELOPE = 1 << 20
const MOST_SIGNATURES = 16

/** A DSSE envelope (secure-systems-lab/dsse, v1): bytes, and who signed them. */
export interface Envelope {
  payload: Buffer
  /** Of each its SSH signature (PROTOCOL.sshsig), as bytes. */
  signatures: Buffer[]
}

/** What is signed: the type and the bytes, so that neither can be taken for another. Pure. */
export function signedBytes(payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(PAYLOAD_TYPE)} ${PAYLOAD_TYPE} ${payload.length} `
  return Buffer.concat([Buffer.from(head), payload])
}

/** As text. Pure. */
export function envelopeText({payload, signatures}: Envelope): string {
  const signed = signatures.map((one) => ({keyid: keyOf(one), sig: one.toString('base64')}))
  return `${JSON.stringify({payload: payload.toString('base64'), payloadType: PAYLOAD_TYPE, signatures: signed}, null, 2)}\n`
}

/** Errors: CHECK_FAILED. Pure. */
export function readEnvelope(bytes: Buffer): Envelope {
  if (bytes.length > MOST_ENVELOPE) throw wrong(`it has more than ${MOST_ENVELOPE} bytes`)
  let value: {payload?: unknown; payloadType?: unknown; signatures?: unknown}
  try {
    value = JSON.parse(bytes.toString()) as typeof value
  } catch {
    throw wrong('it is no JSON')
  }
  const {payload, payloadType, signatures} = value ?? {}
  if (payloadType !== PAYLOAD_TYPE || typeof payload !== 'string') throw wrong('it holds no in-toto statement')
  if (!Array.isArray(signatures) || signatures.length === 0) throw wrong('nobody has signed it')
  if (signatures.length > MOST_SIGNATURES) throw wrong(`it has more than ${MOST_SIGNATURES} signatures`)
  return {
    payload: Buffer.from(payload, 'base64'),
    signatures: signatures.map((one: {sig?: unknown}) => {
      if (typeof one?.sig !== 'string') throw wrong('a signature in it is none')
      const signature = Buffer.from(one.sig, 'base64')
      keyOf(signature)
      return signature
    }),
  }
}

/** Fingerprint of the key that an SSH signature says it is of, as ssh-keygen -l writes it. Errors: CHECK_FAILED. Pure. */
export function keyOf(signature: Buffer): string {
  const length = signature.length >= 14 ? signature.readUInt32BE(10) : 0
  if (signature.subarray(0, 6).toString('latin1') !== 'SSHSIG' || length === 0 || 14 + length > signature.length)
    throw wrong('a signature in it is none of SSH')
  const key = signature.subarray(14, 14 + length)
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

export function wrong(why: string): CliError {
  return new CliError('CHECK_FAILED', `the signed statement cannot be read: ${why}`)
}
