import type {IncomingMessage, Server, ServerResponse} from 'node:http'
import {Server as SecureServer} from 'node:https'
import type {Socket} from 'node:net'

/** How often it is looked whether a client that has ended its side is there. */
const LOOK_MS = 250
/** After so much silence its system is asked. */
const ASK_MS = 10_000

/** What of node:http has no type: https://github.com/nodejs/node/blob/v24.x/lib/_http_server.js. */
type HalfOpenServer = Server & {httpAllowHalfOpen: boolean}
type HttpSocket = Socket & {_httpMessage?: ServerResponse | null; _parent?: Socket}

/**
 * A client may end its side of the connection once it has asked (`nc -N`, shutdown(SHUT_WR)), and is answered where
 * `answers` says so of its request; node:http would end both sides. One that has gone sends the same, so both are told
 * apart (askWhetherThere): work that nobody waits for ends, as before. Within an answer nothing can be asked: there an
 * end is one of both sides. A TLS server has to be made with `allowHalfOpen`.
 */
export function answerHalfClosed(server: Server, answers: (request: IncomingMessage) => boolean): void {
  ;(server as HalfOpenServer).httpAllowHalfOpen = true
  const connected = server instanceof SecureServer ? 'secureConnection' : 'connection'
  server.on(connected, (socket: HttpSocket) => {
    socket.once('end', () => {
      const response = socket._httpMessage
      if (!response || response.headersSent || !answers(response.req)) return void socket.end()
      askWhetherThere(socket, response)
    })
  })
}

/**
 * A system where nobody has the connection any more resets it when something comes. 100 Continue may come at any time
 * (RFC 9110, 15.2), and every client of HTTP/1.1 passes over it, which many do of no other interim answer. Others are
 * asked by TCP's keep-alive, which Linux answers for closed connections, too, until a minute after their end. Nothing is
 * read any more, so a reset is seen by a write alone: one of no bytes sends nothing. TLS would keep its error to itself,
 * so it is the connection's below it.
 */
function askWhetherThere(socket: HttpSocket, response: ServerResponse): void {
  if (response.req.httpVersion !== '1.0') response.writeContinue()
  socket.setKeepAlive(true, ASK_MS)
  const below = socket._parent ?? socket
  const looking = setInterval(() => void below.write('', (error) => error && socket.destroy()), LOOK_MS).unref()
  socket.once('close', () => clearInterval(looking))
}
