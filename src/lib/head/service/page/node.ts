import type {PageTopology} from '../../types.ts'
import {html, type Content, type Html} from './html.ts'
import {table} from './layout.ts'
import {size, state} from './words.ts'

/** Of nvidia-smi's words: what they mean, and how near that is, 0 the nearest. */
const LINKS: readonly (readonly [word: RegExp, near: number, meaning: string])[] = [
  [/^NV\d/, 0, 'NV#: that many NVLinks'],
  [/^PIX/, 1, 'PIX: below one PCIe switch'],
  [/^PXB/, 2, 'PXB: below several PCIe switches'],
  [/^PHB/, 3, 'PHB: on one host bridge'],
  [/^NODE/, 4, 'NODE: at one socket'],
  [/^SYS/, 5, 'SYS: across sockets'],
  [/^/, 6, '?: not known'],
]

/** How a node is wired, on its page. Pure. */
export function nodeBody(wiring: PageTopology): Html {
  const {gpus, nics, numa, findings, source} = wiring
  const none = html`<p class="none">The node tells of no NUMA node, GPU or network card.</p>`
  const unseen = html`<p class="legend">
    From the paths of PCI devices, where NVLink is not to be seen: nvidia-smi gave no matrix.
  </p>`
  return html`${findings.map(({text, why}) => html`<p class="warn">${text} ${why}</p>`)}
    <section aria-labelledby="wired-title">
      <h2 id="wired-title">How it is wired</h2>
      ${gpus.length + nics.length + numa.length === 0 ? none : html`<div class="numas">${places(wiring)}</div>`}
    </section>
    ${gpus.length > 0 && matrix(wiring)} ${source === 'sysfs' && gpus.length > 1 && unseen}`
}

/** A box a NUMA node, with what hangs there; one more for what nobody knows the place of. */
function places({numa, gpus, nics}: PageTopology): Content {
  const known = new Set(numa.map((one) => one.node))
  const isLost = (at: number | null): boolean => at === null || !known.has(at)
  const listed = (...words: (string | false)[]): string => words.filter(Boolean).join(', ')
  const gpu = (one: PageTopology['gpus'][number]): Html => {
    const more = listed(one.memory !== null && size(one.memory), one.nic !== null && `nearest ${one.nic}`)
    return html`<span class="part gpu-part"
      ><b>GPU${one.index}</b><small>${one.name}</small><small>${more}</small></span
    >`
  }
  const nic = ({name, kind, speed, up}: PageTopology['nics'][number]): Html => {
    const more = listed(kind, speed !== null && `${speed} Gbit/s`)
    return html`<span class="part nic-part"><b>${name}</b><small>${more}</small>${up === false && state('down')}</span>`
  }
  const box = (title: string, more: Content, has: (at: number | null) => boolean): Html =>
    html`<div class="card numa">
      <h3>${title} <small>${more}</small></h3>
      <div class="parts">
        ${gpus.filter((one) => has(one.numaNode)).map(gpu)}${nics.filter((one) => has(one.numaNode)).map(nic)}
      </div>
    </div>`
  const boxes = numa.map(({node, cpus, memory}) =>
    box(`NUMA ${node}`, listed(`CPUs ${cpus}`, memory !== null && size(memory)), (at) => at === node),
  )
  const hasLost = [...gpus, ...nics].some((one) => isLost(one.numaNode))
  return [boxes, hasLost && box('elsewhere', 'nobody tells where', isLost)]
}

/** Rows: GPUs, then NICs. Columns: GPUs. The nearer, the darker; the words say the same. */
function matrix({gpus, nics, links, nicLinks}: PageTopology): Html {
  const near = (word: string): number => LINKS.find(([one]) => one.test(word))![1]
  const cell = (word: string | null | undefined): Html =>
    word === null || word === undefined
      ? html`<td class="same">·</td>`
      : html`<td class="near${near(word)}">${word}</td>`
  const words = [...links.flat(), ...nicLinks.flat()].filter((one) => one !== null)
  const said = LINKS.filter(([, level]) => words.some((one) => near(one) === level))
  return html`<section aria-labelledby="links-title">
    <h2 id="links-title">Links</h2>
    ${table(
      [html`<span class="unseen">from</span>`, ...gpus.map((one) => `GPU${one.index}`)],
      [
        ...gpus.map(
          (one, at) =>
            html`<tr>
              <th scope="row">GPU${one.index}</th>
              ${gpus.map((_, other) => cell(links[at]?.[other]))}
            </tr>`,
        ),
        ...nics.map(
          (one, at) =>
            html`<tr>
              <th scope="row">${one.name}</th>
              ${gpus.map((_, other) => cell(nicLinks[at]?.[other] ?? '?'))}
            </tr>`,
        ),
      ],
      'links',
    )}
    <p class="legend">
      ${said.map(([, level, meaning]) => html`<span><i class="key near${level}"></i>${meaning}</span>`)}
    </p>
  </section>`
}
