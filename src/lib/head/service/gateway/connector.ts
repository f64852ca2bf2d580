import {buildConnector} from 'undici'
import {freeWritten} from '../limits/spent.ts'
import {checkFront} from '../tls/front-name.ts'
import type {Identity} from '../tls/certificates.ts'
import type {Issuer} from '../tls/issuer.ts'

/**
 * Connects the gateway to model servers. `timeout`: milliseconds. A standby is given new certificates from time to time:
 * the next connection goes by those.
 */
export function gatewayConnector(certificates: Issuer, timeout: number): buildConnector.connector {
  let made: {identity: Identity; trusted: string; connect: buildConnector.connector} | undefined
  return (options, callback) => {
    certificates.gateway().then(
      (identity) => {
        const {trusted} = certificates
        if (made?.identity !== identity || made.trusted !== trusted) {
          const {key, certificate: cert} = identity
          made = {
            identity,
            trusted,
            connect: buildConnector({timeout, key, cert, ca: trusted, checkServerIdentity: checkFront}),
          }
        }
        made.connect(options, (...result) => {
          if (result[1]) freeWritten(result[1])
          callback(...result)
        })
      },
      (error: Error) => callback(error, null),
    )
  }
}
