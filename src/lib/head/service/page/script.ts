/**
 * What a browser adds to the page: news as they come, keys, copying, values under the pointer. Everything else works
 * without it. One stream serves all tabs of a browser, which allows six connections to a host: the tab that holds the
 * lock has it, and hands on what comes. Tests load it in Chromium.
 */
export const SCRIPT = String.raw`'use strict';
(() => {
  const me = Math.random().toString(36).slice(2)
  const page = location.pathname + location.search
  const isLive = document.documentElement.hasAttribute('data-live')
  const log = document.getElementById('log')
  document.querySelector('nav [aria-current]')?.scrollIntoView({inline: 'center', block: 'nearest'})
  const pulse = document.getElementById('pulse')
  const channel = 'BroadcastChannel' in window && navigator.locks ? new BroadcastChannel('flexrack') : undefined

  // --- what comes is laid over what is there, so that focus and selection stay
  function morph(old, fresh) {
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) return old.replaceWith(fresh)
    if (old.nodeType === 3) return void (old.data !== fresh.data && (old.data = fresh.data))
    for (const {name} of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name)
    for (const {name, value} of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
    const [have, want] = [[...old.childNodes], [...fresh.childNodes]]
    for (let at = 0; at < want.length; at++) have[at] ? morph(have[at], want[at]) : old.append(want[at])
    for (const one of have.slice(want.length)) one.remove()
  }
  function apply(parts) {
    for (const [id, text] of Object.entries(parts)) {
      const old = document.getElementById(id)
      // A set of rows that is another one is drawn by the server.
      if (!old) return location.reload()
      const holder = document.createElement('template')
      holder.innerHTML = text
      if (holder.content.firstElementChild) morph(old, holder.content.firstElementChild)
    }
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
  function receive(data) {
    if (data.lost !== undefined && pulse && isLive) {
      pulse.classList.toggle('lost', data.lost)
      pulse.textContent = data.lost ? 'not connected' : 'live'
    }
    if (data.page === page && data.parts) apply(data.parts)
    if (data.tab === me && data.log) append(data.log)
  }

  // --- one stream a browser
  const wants = new Map()
  let source
  let timer
  let tries = 0
  let isLeading = false
  const mine = () => ({tab: me, page, from: log && log.hasAttribute('data-live') && !log.dataset.over ? Number(log.dataset.to) : null})
  function announce() {
    if (!isLive) return
    const message = document.hidden ? {bye: me} : {want: mine()}
    channel?.postMessage(message)
    hear(message)
  }
  function hear(data) {
    if (data.who) announce()
    if (!isLeading) return
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
    source = new EventSource('/flexrack/ui/events?' + query)
    source.onopen = () => {
      tries = 0
      hand({lost: false})
    }
    source.onmessage = ({data}) => {
      const message = JSON.parse(data)
      // Where a log is to go on from, should the stream have to be opened anew.
      const want = message.log && wants.get(message.tab)
      if (want && want.from === message.log.from) want.from = message.log.open ? message.log.to : null
      hand(message)
    }
    source.onerror = () => {
      source?.close()
      source = undefined
      hand({lost: true})
      connectSoon(Math.min(10000, 500 * 2 ** tries++) * (0.5 + Math.random()))
    }
  }
  function hand(message) {
    channel?.postMessage({message})
    receive(message)
  }
  function lead() {
    isLeading = true
    channel?.postMessage({who: true})
    announce()
  }
  if (isLive) {
    if (channel) {
      channel.onmessage = ({data}) => (data.message ? receive(data.message) : hear(data))
      navigator.locks.request('flexrack', () => (lead(), new Promise(() => {})))
    } else lead()
    announce()
    setInterval(() => {
      announce()
      for (const [tab, {at}] of wants) if (tab !== me && Date.now() - at > 40000) (wants.delete(tab), connectSoon())
    }, 10000)
    document.addEventListener('visibilitychange', announce)
    addEventListener('pagehide', () => channel?.postMessage({bye: me}))
  }

  // --- conveniences
  if (log && log.dataset.at === 'end') log.scrollTop = log.scrollHeight
  else (log?.querySelector('mark') ?? log?.querySelector('.err'))?.scrollIntoView({block: 'center'})
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
