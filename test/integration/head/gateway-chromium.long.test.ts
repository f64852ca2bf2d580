import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {expect, test} from 'vitest'
import {openTestServer} from '../../support/head-server.ts'
import {drivePage} from '../../support/page-driver.ts'
import {startTarget} from '../../support/target.ts'

/** Reads a stream as it comes, and an error; what it could not do it says. */
const script = (url: string, token: string): string => `
  const say = (text) => document.body.append(Object.assign(document.createElement('li'), {textContent: text}))
  const ask = (path, key) => fetch('${url}' + path, {method: 'POST', body: '{}',
    headers: {authorization: 'Bearer ' + key, 'content-type': 'application/json', 'x-stainless-os': 'x'}})
  const all = async () => {
    for (const name of ['open', 'closed'])
      try {
        const answer = await ask('/endpoints/' + name + '/v1/chat/completions', '${token}')
        const parts = []
        for await (const one of answer.body.pipeThrough(new TextDecoderStream())) parts.push(one.trim())
        say(name + ': ' + parts.join(' ') + ' by ' + answer.headers.get('x-flexrack-release'))
        say(name + ': ' + (await (await ask('/endpoints/' + name + '/v1/models/x', 'wrong')).json()).error.code)
      } catch (error) { say(name + ': ' + error.message) }
    say('done')
  }
  all()`

test('Chromium lets a page of a named origin call an endpoint, stream and read errors; of another endpoint it lets none', async () => {
  const server = await openTestServer()
  const target = await startTarget('engine', (_request, response) => {
    response.writeHead(200, {'content-type': 'text/event-stream'}).write('data: one\n\n')
    setTimeout(() => response.end('data: two\n\n'), 50)
  })
  const page = createServer((_request, response) =>
    response
      .writeHead(200, {'content-type': 'text/html'})
      .end(`<body></body><script>${script(server.url, server.admin)}</script>`),
  )
  await new Promise<void>((done) => page.listen(0, '127.0.0.1', done))
  const origin = `http://127.0.0.1:${(page.address() as AddressInfo).port}`
  try {
    for (const [name, cors] of Object.entries({open: [origin], closed: ['https://app.example']})) {
      const document = {active: {release: 'r1', targets: [target.url], protocol: 'openai'}, cors}
      await server.call('PUT', `/flexrack/v1/endpoints/${name}`, {body: {revision: 0, document}})
    }
    const browser = await drivePage(`${origin}/`)
    try {
      const said = `[...document.querySelectorAll('li')].map((one) => one.textContent)`
      await browser.until(`${said}.includes('done')`, 60)
      expect(await browser.evaluate(said)).toEqual([
        'open: data: one data: two by r1',
        'open: invalid_api_key',
        'closed: Failed to fetch',
        'done',
      ])
    } finally {
      await browser.close()
    }
  } finally {
    page.close()
    await target.stop()
    await server.close()
  }
}, 120_000)
