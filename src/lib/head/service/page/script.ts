/**
 * What a browser adds to the page: news as they come, keys, copying, values under the pointer. Everything else works
 * without it. One stream serves all tabs of a browser, which allows six connections to a host: the tab that holds the
 * lock has it, and hands on what comes. Tests load it in Chromium.
 */
export const SCRIPT = String.raw`'use strict';
(() => {
  const file = document.currentScript.src
  const me = Math.random().toString(36).slice(2)
  const page = location.pathname + location.search
  const isLive = document.documentElement.hasAttribute('data-live')
  const log = document.getElementById('log')
  // Into the middle of what scrolls. Not scrollIntoView: the first Tab would go on from there, past the skip link.
  function centre(parent, one) {
    if (!parent || !one) return
    const [outer, inner] = [parent.getBoundingClientRect(), one.getBoundingClientRect()]
    parent.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2
    parent.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2
  }
  const nav = document.querySelector('nav')
  centre(nav, nav?.querySelector('[aria-current]'))
  const pulse = document.getElementById('pulse')
  const channel = 'BroadcastChannel' in window && navigator.locks ? new BroadcastChannel('flexrack') : undefined

  // --- what comes is laid over what is there, so that focus and selection stay; what has an id stays itself
  const idOf = (node) => (node && node.nodeType === 1 ? node.id : '')
  function morph(old, fresh) {
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) return old.replaceWith(fresh)
    if (old.nodeType === 3) return void (old.data !== fresh.data && (old.data = fresh.data))
    for (const {name} of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name)
    for (const {name, value} of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
    place(old, [...fresh.childNodes], morph)
  }
  // Has these for children: those that are there stay, and what is new is put between them.
  function place(parent, want, meet) {
    const ids = new Set(want.map(idOf))
    const have = new Map()
    for (const one of [...parent.childNodes]) if (idOf(one)) ids.has(one.id) ? have.set(one.id, one) : one.remove()
    let at = parent.firstChild
    for (const one of want) {
      const same = idOf(one) ? have.get(one.id) : at && !idOf(at) ? at : undefined
      const next = same && same === at ? at.nextSibling : at
      if (!same) parent.insertBefore(one, at)
      else if (same !== at) parent.insertBefore(same, at)
      if (same && same !== one) meet(same, one)
      at = next
    }
    while (at) [at] = [at.nextSibling, at.remove()]
  }
  function made(text) {
    const holder = document.createElement('template')
    holder.innerHTML = text
    return holder.content.firstElementChild
  }
  function apply(parts) {
    const focused = document.activeElement
    for (const [id, part] of Object.entries(parts)) {
      if (!Array.isArray(part)) continue
      // The rows that a table has, in order.
      const rows = part.map((row) => document.getElementById(row) ?? (parts[row] === undefined ? null : made(parts[row])))
      const parent = document.getElementById(id)
      if (!parent && rows.length === 0) continue
      if (!parent || rows.length === 0 || rows.includes(null)) return location.reload()
      place(parent, rows, () => {})
    }
    for (const [id, part] of Object.entries(parts)) {
      if (Array.isArray(part)) continue
      const old = document.getElementById(id)
      if (!old) return location.reload()
      const fresh = made(part)
      if (fresh) morph(old, fresh)
    }
    if (focused !== document.activeElement && focused?.isConnected) focused.focus({preventScroll: true})
  }
  const MOST_LINES = 5000
  function append({from, to, html, open}) {
    if (!log || from !== Number(log.dataset.to)) return
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40
    const holder = document.createElement('template')
    holder.innerHTML = html
    log.append(holder.content)
    log.dataset.to = to
    while (log.childElementCount > MOST_LINES) log.firstElementChild.remove()
    if (atEnd) log.scrollTop = log.scrollHeight
    if (!open) log.dataset.over = '1'
  }
  // Of the last that was heard of the head: a stream may be open, and nothing come any more.
  let heard = Date.now()
  const SILENT_MS = 40000
  function tell(why) {
    if (!pulse || !isLive) return
    pulse.className = 'pulse ' + (why === '' ? 'live' : 'lost')
    const text = why === '' ? 'live' : why + ', as of ' + new Date(heard).toLocaleTimeString()
    if (pulse.textContent !== text) pulse.textContent = text
  }
  function receive(data) {
    if (data.lost) return tell(data.lost)
    heard = Date.now()
    tell('')
    if (data.page === page && data.parts) apply(data.parts)
    if (data.tab === me && data.log) append(data.log)
  }

  // --- one stream a browser: a tab that is seen has it, as browsers put those that are not to sleep
  const wants = new Map()
  let source
  let timer
  let tries = 0
  let isAsked = false
  let yieldLead
  const mine = () => ({tab: me, page, from: log && log.hasAttribute('data-live') && !log.dataset.over ? Number(log.dataset.to) : null})
  function announce() {
    const message = document.hidden ? {bye: me} : {want: mine()}
    channel?.postMessage(message)
    hear(message)
  }
  function hear(data) {
    if (data.who) announce()
    if (!yieldLead) return
    if (data.bye && wants.delete(data.bye)) connectSoon()
    if (data.want) {
      const known = wants.get(data.want.tab)
      wants.set(data.want.tab, {...data.want, at: Date.now()})
      if (!known || known.page !== data.want.page) connectSoon()
    }
  }
  function connectSoon(ms = 30) {
    clearTimeout(timer)
    timer = setTimeout(connect, ms)
  }
  function connect() {
    source?.close()
    source = undefined
    if (wants.size === 0) return
    const query = new URLSearchParams()
    for (const one of new Set([...wants.values()].map((want) => want.page))) query.append('page', one)
    for (const {tab, page: path, from} of wants.values()) if (from !== null) query.append('log', tab + ' ' + from + ' ' + path)
    const url = '/flexrack/ui/events?' + query
    const mine = (source = new EventSource(url))
    source.onopen = () => {
      tries = 0
      hand({})
    }
    source.onmessage = ({data}) => {
      const message = JSON.parse(data)
      // Where a log is to go on from, should the stream have to be opened anew.
      const want = message.log && wants.get(message.tab)
      if (want && want.from === message.log.from) want.from = message.log.open ? message.log.to : null
      hand(message)
    }
    source.onerror = async () => {
      const isRefused = mine.readyState === EventSource.CLOSED
      mine.close()
      if (source === mine) source = undefined
      connectSoon(Math.min(10000, 500 * 2 ** tries++) * (0.5 + Math.random()))
      hand({lost: isRefused && (await isOut()) ? 'not logged in any more (flexrack head ui)' : 'not connected'})
    }
  }
  // A stream that is refused does not say why; this file is for those who are let in, too.
  async function isOut() {
    const {status} = await fetch(file, {cache: 'no-store'}).catch(() => ({status: 0}))
    return status === 401 || status === 403
  }
  function hand(message) {
    channel?.postMessage({message})
    receive(message)
  }
  function lead() {
    channel?.postMessage({who: true})
    announce()
  }
  function seek() {
    announce()
    if (document.hidden) {
      if (!channel || !yieldLead) return
      yieldLead = yieldLead()
      wants.clear()
      connect()
    } else if (channel && !isAsked && !yieldLead) {
      isAsked = true
      navigator.locks.request('flexrack', () => {
        isAsked = false
        if (document.hidden) return
        return new Promise((resolve) => {
          yieldLead = resolve
          lead()
        })
      })
    }
  }
  if (isLive) {
    if (channel) channel.onmessage = ({data}) => (data.message ? receive(data.message) : hear(data))
    else yieldLead = () => {}
    seek()
    setInterval(() => {
      announce()
      for (const [tab, {at}] of wants) if (tab !== me && Date.now() - at > 40000) (wants.delete(tab), connectSoon())
      if (document.hidden || Date.now() - heard < SILENT_MS) return
      tell('not connected')
      if (yieldLead && source) connectSoon()
    }, 10000)
    document.addEventListener('visibilitychange', seek)
    addEventListener('pagehide', () => channel?.postMessage({bye: me}))
  }

  // --- conveniences
  if (log && log.dataset.at === 'end') log.scrollTop = log.scrollHeight
  else if (log) {
    centre(log, log.querySelector('mark') ?? log.querySelector('.err'))
    log.scrollLeft = 0
  }
  for (const button of document.querySelectorAll('[data-copy]')) {
    button.hidden = false
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.dataset.copy)
      button.textContent = 'copied'
      setTimeout(() => (button.textContent = 'copy'), 1500)
    })
  }
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return
    const field = event.key === '/' && document.querySelector('[data-key="/"]')
    if (field) (event.preventDefault(), field.focus())
    if (event.key !== 'j' && event.key !== 'k') return
    const links = [...document.querySelectorAll('main tbody tr a:first-of-type')]
    const at = links.indexOf(document.activeElement)
    links[Math.max(0, Math.min(links.length - 1, at + (event.key === 'j' ? 1 : -1)))]?.focus()
  })
  const tip = document.createElement('div')
  tip.className = 'tip'
  const two = (text) => text.split(',').map(Number)
  const shown = (value) => String(Number(value.toPrecision(4)))
  document.addEventListener('pointermove', (event) => {
    const svg = event.target.closest?.('svg.curves')
    if (!svg) return tip.remove()
    const box = svg.getBoundingClientRect()
    const scale = svg.viewBox.baseVal.width / box.width
    const [[left, right], [top, bottom], [low, high], [least, most]] = ['edge', 'rise', 'x', 'y'].map((one) => two(svg.dataset[one]))
    const at = Math.max(left, Math.min(right, (event.clientX - box.left) * scale))
    const lines = [...svg.querySelectorAll('.curve')].map((line) => {
      const points = line.getAttribute('points').split(' ').map(two)
      const near = points.reduce((a, b) => (Math.abs(b[0] - at) < Math.abs(a[0] - at) ? b : a))
      const y = least + ((bottom - near[1]) / (bottom - top)) * (most - least)
      return {name: line.querySelector('title')?.textContent ?? '', value: svg.dataset.log ? 10 ** y : y, x: near[0]}
    })
    const x = low + (((lines[0]?.x ?? at) - left) / (right - left)) * (high - low)
    tip.textContent = ['at ' + shown(x), ...lines.map(({name, value}) => name + '  ' + shown(value))].join('\n')
    tip.style.left = Math.min(event.pageX + 14, document.documentElement.clientWidth - 180) + 'px'
    tip.style.top = event.pageY + 14 + 'px'
    document.body.append(tip)
  })
})()
`
