import {STANDBY_NAME} from '../../types.ts'
import {Failure} from '../failure.ts'
import {ownNames} from './names.ts'
import type {Parts} from '../parts.ts'
import {isFor} from './certificates.ts'
import {frontName} from './front-name.ts'

/**
 * {names}, or {front: address} of a model server's front on the machine of a head: a key and a certificate for a server
 * of the rack, with what it is to trust. Never for the names of a head itself.
 */
export async function certify(
  {config, authority, tokens}: Parts,
  {names: given, front}: Record<string, unknown>,
): Promise<{key: string; certificate: string; ca: string}> {
  const names = typeof front === 'string' && front.length <= 45 ? [frontName(front)] : given
  const isName = (name: unknown): name is string => typeof name === 'string' && /^[A-Za-z0-9.:-]{1,253}$/.test(name)
  if (!Array.isArray(names) || names.length === 0 || names.length > 20 || !names.every(isName))
    throw new Failure(400, 'USAGE', 'names must be 1 to 20 host names or addresses')
  const identity = await authority.lasting({name: 'flexrack model server', names, usage: 'server'})
  const heads = [...ownNames(config), STANDBY_NAME, ...tokens.standbys().flatMap((one) => one.names)]
  // An address has several spellings, and a name may end in a dot: what counts is what the certificate would be taken
  // for.
  const taken = heads.find((own) => isFor(identity.certificate, [own]))
  if (taken !== undefined || names.some((name) => name.endsWith('.')))
    throw new Failure(400, 'USAGE', `${taken ?? 'a name that ends in a dot'} is for the head only`)
  return {...identity, ca: authority.trusted}
}
