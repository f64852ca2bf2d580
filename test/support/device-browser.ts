import {Agent, fetch} from 'undici'

/** What is typed into forms, by the name of the field; `abort` is a button, and the end. */
export type Typed = Record<string, string>

/**
 * Goes through the pages of a provider as a person with a browser does: opens the address, fills in each form that comes, and
 * sends it, until there is none. Gives the text of the last page.
 */
export async function passForms(address: string, typed: Typed, ca: string): Promise<string> {
  const dispatcher = new Agent({connect: {ca}})
  const jar = new Map<string, Map<string, string>>()
  const load = async (url: string, body?: URLSearchParams): Promise<{url: string; text: string}> => {
    const cookies = [...jar].filter(([path]) => new URL(url).pathname.startsWith(path)).flatMap(([, one]) => [...one])
    const answer = await fetch(url, {
      method: body ? 'POST' : 'GET',
      redirect: 'manual',
      dispatcher,
      headers: {cookie: cookies.map(([name, value]) => `${name}=${value}`).join('; ')},
      ...(body && {body}),
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      const path = /; *path=([^;]*)/i.exec(line)?.[1] ?? '/'
      jar.set(path, (jar.get(path) ?? new Map<string, string>()).set(name!, value!))
    }
    const next = answer.headers.get('location')
    return next === null ? {url, text: await answer.text()} : load(new URL(next, url).href)
  }
  try {
    let page = await load(address)
    for (let count = 0; count < 10; count++) {
      const form = /<form[^>]*action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/.exec(page.text)
      if (!form) return page.text
      const inputs = (form[2]!.match(/<input[^>]*>/g) ?? []).map((one) => [
        attribute(one, 'name'),
        attribute(one, 'value'),
      ])
      const fields = inputs.map(([name, value]): [string, string] => [name!, typed[name!] ?? value!])
      const isPressed = typed.abort !== undefined && page.text.includes('name="abort"')
      if (isPressed) fields.push(['abort', typed.abort!])
      page = await load(new URL(form[1]!, page.url).href, new URLSearchParams(fields))
      if (isPressed) return page.text
    }
    throw new Error(`there is always another form: ${page.text.slice(0, 500)}`)
  } finally {
    await dispatcher.close()
  }
}

const attribute = (element: string, name: string): string => new RegExp(` ${name}="([^"]*)"`).exec(element)?.[1] ?? ''
