import {existsSync} from 'node:fs'
import {CliError, isGood, signerOf, signWith} from '../base/index.ts'
import type {RunRecord} from '../protocol/index.ts'
import {envelopeText, keyOf, readEnvelope, signedBytes, wrong} from './envelope.ts'
import {readStatement, statementBytes, type Statement} from './statement.ts'

/** What is said of a model version, and by whom. */
export interface Attested extends Statement {
  /** Fingerprints of the keys that have signed, whoever's they are. */
  keys: string[]
  /** A principal of the allowed signers; null: no allowed one has signed it, or nobody is known who may. */
  signer: string | null
}

const NAMESPACE = 'flexrack-model'

/** Where it is kept: an artifact of the version's run. Pure. */
export function statementPath(name: string, version: string): string {
  return `lineage/signed/${encodeURIComponent(name)}-${version}.dsse.json`
}

/**
 * A statement with one more signature. `known`: the envelope that is there; of other bytes it is replaced. Errors:
 * CHECK_FAILED.
 */
export async function attest(
  statement: Statement,
  record: RunRecord,
  key: string,
  known: Buffer | undefined,
): Promise<string> {
  const payload = statementBytes(statement, record)
  const signature = await signWith(key, signedBytes(payload), NAMESPACE)
  const before = known && readEnvelope(known)
  const others = before?.payload.equals(payload)
    ? before.signatures.filter((one) => keyOf(one) !== keyOf(signature))
    : []
  return envelopeText({payload, signatures: [...others, signature]})
}

/**
 * Reads and checks an envelope. `signers`: an allowed_signers file. A signature that its key has not made of these bytes
 * is nobody's: anybody can write down whose it is to be. Errors: CHECK_FAILED, also where there is no other; NOT_FOUND.
 */
export async function readAttested(bytes: Buffer, signers: string | undefined): Promise<Attested> {
  if (signers !== undefined && !existsSync(signers))
    throw new CliError('NOT_FOUND', `there is no file ${signers} with allowed signers`, {
      hint: `echo "you@example.org $(cat ~/.ssh/id_ed25519.pub)" > ${signers}`,
    })
  const {payload, signatures} = readEnvelope(bytes)
  const signed = signedBytes(payload)
  const keys: string[] = []
  let signer: string | null = null
  for (const one of signatures) {
    if (!(await isGood(one, signed, NAMESPACE))) continue
    keys.push(keyOf(one))
    if (signers !== undefined) signer ??= (await signerOf(one, signed, signers, NAMESPACE)) ?? null
  }
  if (keys.length === 0) throw wrong('no signature in it is of what it says')
  return {...readStatement(payload), keys, signer}
}
