import {CliError} from '../base/index.ts'
import type {HeadAccess} from '../head/index.ts'

/** Where a head is and what it is known by; no secret. */
export type Invitation = {ca: string} & HeadAccess['listener']

const MARK = 'fr1.'

/** One word that can be sent to somebody: with it `login` finds the head, and trusts no other. Pure. */
export function invitationOf({ca, address, port, url}: Invitation): string {
  return MARK + Buffer.from(JSON.stringify({address, port, url, ca})).toString('base64url')
}

/** Errors: USAGE. Pure. */
export function readInvitation(text: string): Invitation {
  try {
    if (!text.startsWith(MARK)) throw new Error(`it does not begin with ${MARK}`)
    const value = JSON.parse(Buffer.from(text.slice(MARK.length), 'base64url').toString()) as Partial<Invitation>
    const {address, port, url, ca} = value
    if (typeof address !== 'string' || typeof url !== 'string' || typeof ca !== 'string' || !Number.isInteger(port))
      throw new Error('it is cut off')
    return {address, port: port as number, url, ca}
  } catch (error) {
    throw new CliError('USAGE', `this is no invitation: ${(error as Error).message}`, {
      hint: 'ask an admin of the rack: flexrack user add NAME',
    })
  }
}
