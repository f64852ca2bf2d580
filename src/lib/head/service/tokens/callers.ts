import type {IncomingHttpHeaders} from 'node:http'
import type {Socket} from 'node:net'
import {Failure, tokenRefused} from '../failure.ts'
import type {Logins} from './browser-login.ts'
import type {PendingConnections} from '../limits/pending-connections.ts'
import type {Caller} from './token-kinds.ts'
import type {Tokens} from './tokens.ts'

/** Whose requests these are. */
export class Callers {
  readonly #tokens: Tokens
  readonly #logins: Logins
  readonly #pending: PendingConnections
  /** What a connection showed last: the same again need not be hashed again. It is kept no longer than its connection. */
  readonly #shown = new WeakMap<Socket, {authorization: string; caller: Caller}>()

  constructor(tokens: Tokens, logins: Logins, pending: PendingConnections) {
    this.#tokens = tokens
    this.#logins = logins
    this.#pending = pending
  }

  /** Errors: 401. */
  identify(headers: IncomingHttpHeaders, socket: Socket): Caller {
    const {authorization} = headers
    if (authorization === undefined) {
      const caller = this.#logins.check(headers)
      if (!caller) throw new Failure(401, 'REFUSED', 'a token is needed: Authorization: Bearer <token>')
      this.#pending.know(socket)
      return caller
    }
    const shown = this.#shown.get(socket)
    if (shown && shown.authorization === authorization && this.#tokens.stillIs(shown.caller)) {
      if (shown.caller.kind === 'user') this.#tokens.noteUse(shown.caller.id)
      return shown.caller
    }
    const token = /^Bearer ([\w.-]+)$/i.exec(authorization)?.[1]
    const caller = token ? this.#tokens.check(token) : undefined
    if (!caller || caller.kind === 'session') throw tokenRefused()
    if (caller.kind === 'user') this.#tokens.noteUse(caller.id)
    this.#pending.know(socket)
    this.#shown.set(socket, {authorization, caller})
    return caller
  }
}
