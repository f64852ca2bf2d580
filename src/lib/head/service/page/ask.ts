import {address, html, type Content, type Html} from './html.ts'

/** Something that a browser may have done, once it has been asked. */
export interface Question {
  title: string
  text: Content
  /** The button's word. */
  verb: string
  /** Where the form goes, and where one goes who does not want it. */
  path: readonly string[]
  back: readonly string[]
}

/** The page that asks. Pure. */
export function askBody({title, text, verb, path, back}: Question): Html {
  return html`<h1>${title}</h1>
    <div class="card">
      <p>${text}</p>
      <form class="act" method="post" action="${address(path)}">
        <button class="danger">${verb}</button><a class="button" href="${address(back)}">Leave it</a>
      </form>
    </div>`
}
