import type {EndpointDocument} from './document.ts'
import type {Site} from './site.ts'

/** Which pages may call it from now on; undefined where it is so, or no manifest says anything of it. */
export function corsOf({manifest}: Site, document: EndpointDocument, name: string): string[] | undefined {
  const own = manifest?.endpoints[name]
  const wanted = own && (own.cors ?? [])
  return JSON.stringify(wanted) === JSON.stringify(document.cors ?? []) ? undefined : wanted
}

/** The origins of pages that may call it; undefined: those that it has. */
export function withCors(document: EndpointDocument, cors: string[] | undefined): EndpointDocument {
  if (cors === undefined) return document
  const {cors: _, ...left} = document
  return {...left, ...(cors.length > 0 && {cors})}
}

/** Which pages may call it, from a browser. */
export function pagesText(cors: string[]): string {
  if (cors.length === 0) return 'no page may call it from a browser'
  return `pages of ${cors.includes('*') ? 'every origin' : cors.join(', ')} may call it`
}
