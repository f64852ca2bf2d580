import type {Issuer} from '../tls/issuer.ts'
import type {Identity} from '../tls/certificates.ts'
import {Failure} from '../failure.ts'
import type {Followed} from './followed.ts'

/** What a standby shows and trusts: two certificates of the rack's authority. It signs nothing itself. */
export class GivenCertificates implements Issuer {
  #given: Pick<Followed, 'listener' | 'gateway'>
  #trusted: string

  constructor(given: Pick<Followed, 'listener' | 'gateway'>, trusted: string) {
    this.#given = given
    this.#trusted = trusted
  }

  get trusted(): string {
    return this.#trusted
  }

  /** The next connection goes by these. */
  replace(given: Pick<Followed, 'listener' | 'gateway'>, trusted: string): void {
    this.#given = {listener: given.listener, gateway: given.gateway}
    this.#trusted = trusted
  }

  leaf(): Promise<Identity> {
    return Promise.resolve(this.#given.listener)
  }

  gateway(): Promise<Identity> {
    return Promise.resolve(this.#given.gateway)
  }

  lasting(): Promise<Identity> {
    return Promise.reject(new Failure(421, 'REFUSED', 'a standby signs no certificates'))
  }

  issueLeaf(): Promise<Identity> {
    return this.lasting()
  }
}
