import type {ServerResponse} from 'node:http'
import type {FastifyReply, FastifyRequest} from 'fastify'
import {Failure} from '../failure.ts'
import {eventOf, type LivePages} from './live.ts'
import {openView, type Site} from './views.ts'

/**
 * A message of nothing now and then: nobody between takes the stream for dead, and a page that hears none says so.
 * Milliseconds.
 */
const BEAT_MS = 15_000
const BEAT = eventOf({})
/** Who reads more slowly than things happen is sent away, and comes again to everything there is. Bytes. */
const MOST_WAITING = 4 * 1024 * 1024
/** Pages and logs of one browser. */
const MOST_WATCHED = 40
/** Streams of one browser: it needs one. */
const MOST_STREAMS = 12

/**
 * The event stream of a browser (https://html.spec.whatwg.org/multipage/server-sent-events.html): `page` are the pages that
 * it shows, `log` the logs it follows, each `TAB OFFSET PAGE`. A browser that comes again says how far it has each log:
 * nothing is lost or doubled, also over a restart of the head.
 */
export class Streams {
  readonly #open = new Map<string, Set<ServerResponse>>()
  readonly #lives: LivePages

  constructor(lives: LivePages) {
    this.#lives = lives
  }

  /** Answers with the stream until its reader goes. */
  open(request: FastifyRequest, reply: FastifyReply, site: Site): void {
    const query = new URL(request.url, 'http://head').searchParams
    const [pages, logs] = [query.getAll('page'), query.getAll('log')]
    if (pages.length + logs.length > MOST_WATCHED) throw new Failure(400, 'USAGE', 'that is too much to watch')
    const mine = this.#open.get(site.login) ?? new Set<ServerResponse>()
    if (mine.size >= MOST_STREAMS) throw new Failure(429, 'BUSY', 'this browser has too many streams open')
    reply.hijack()
    const {raw} = reply
    raw.writeHead(200, {'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no'})
    raw.write(': flexrack\n\n')
    const send = (message: Buffer): void => {
      if (raw.writableLength > MOST_WAITING || !site.isOpen()) raw.destroy()
      else raw.write(message)
    }
    const ends = [
      ...[...new Set(pages)].flatMap((page) => {
        const live = openView(page, site)?.live
        return live ? [this.#lives.watch(site.view, page, live, send)] : []
      }),
      ...logs.flatMap((one) => {
        const [tab = '', from = '', page = ''] = one.split(' ')
        const tail = /^\d{1,15}$/.test(from) ? openView(page, site)?.tail?.() : undefined
        return tail ? [tail.follow(Number(from), (log) => send(eventOf({tab, log})))] : []
      }),
    ]
    const beat = setInterval(() => {
      if (site.isOpen()) send(BEAT)
      else raw.destroy()
    }, BEAT_MS)
    mine.add(raw)
    this.#open.set(site.login, mine)
    raw.once('close', () => {
      clearInterval(beat)
      for (const end of ends) end()
      mine.delete(raw)
      if (mine.size === 0) this.#open.delete(site.login)
    })
  }

  /** Of a login that has ended. */
  end(login: string): void {
    for (const raw of this.#open.get(login) ?? []) raw.destroy()
  }

  /** Of a head that ends: streams would never. */
  endAll(): void {
    for (const login of [...this.#open.keys()]) this.end(login)
  }
}
