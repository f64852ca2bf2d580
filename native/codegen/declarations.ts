// The types and numbers of NAME.constants, in the order in which they are declared there: a header has them in that
// order.

export interface Member {
  offset: number
  /** Empty where the member is a struct or a union written out here. */
  type: string
  /** Empty where what is inside belongs to the surrounding one. */
  name: string
  /** As `[64]`; empty for a single one. */
  array: string
  inner?: Inner
}

export interface Inner {
  kind: 'struct' | 'union'
  members: Member[]
}

export type Declaration =
  | {kind: 'opaque'; name: string; tag: string}
  | {kind: 'type'; name: string; of: string}
  | {kind: 'layout'; name: string; members: string}
  | {kind: 'callback'; name: string; returns: string; parameters: string}
  | {kind: 'enum'; name: string; isSigned: boolean; values: {name: string; value: string; text: string}[]}
  | {kind: 'record'; name: string; of: Inner; size: number; align: number}

/** All of one kind, in order. */
export function every<Kind extends Declaration['kind']>(
  declarations: Declaration[],
  kind: Kind,
): Extract<Declaration, {kind: Kind}>[] {
  return declarations.filter((one): one is Extract<Declaration, {kind: Kind}> => one.kind === kind)
}

export type Fail = (why: string) => never

/** What a line that starts with `word` declares; undefined where it is none of these. */
export function readDeclaration(word: string, rest: string, fail: Fail): Declaration | undefined {
  const [, name = '', more = ''] = /^(\S+)\s*(.*)$/.exec(rest) ?? []
  switch (word) {
    case 'opaque':
      return {kind: 'opaque', name, tag: more}
    case 'type':
      return {kind: 'type', name, of: more}
    case 'layout':
      return {kind: 'layout', name, members: /^\{ (.*) \}$/.exec(more)?.[1] ?? fail('a layout has members in braces')}
    case 'callback': {
      const [, returns = '', parameters = ''] =
        /^(?:(\w+\*?) )?(\(.*\))$/.exec(more) ?? fail('a callback is NAME [TYPE] (parameters)')
      return {kind: 'callback', name, returns: returns || 'void', parameters}
    }
    case 'enum':
      return {kind: 'enum', name, isSigned: more === 'signed', values: []}
    case 'record': {
      const [, kind = '', size = '', align = '0'] =
        /^(struct|union) (\d+)(?: align (\d+))?$/.exec(more) ?? fail('a record is NAME struct|union SIZE [align N]')
      return {
        kind: 'record',
        name,
        of: {kind: kind as Inner['kind'], members: []},
        size: Number(size),
        align: Number(align),
      }
    }
    default:
      return undefined
  }
}

/** A line further in, below `one`: a number of an enum or a member of a record. */
export function readInside(line: string, one: Declaration, fail: Fail): void {
  const depth = /^ */.exec(line)?.[0].length ?? 0
  if (one.kind === 'enum') {
    const [, name = '', value = '', text = ''] =
      /^(\w+) (-?\w+)(?: "(.*)")?$/.exec(line.trim()) ?? fail('a number of an enum is NAME VALUE ["TEXT"]')
    one.values.push({name, value, text})
  } else if (one.kind === 'record') {
    let into = one.of
    for (let level = 2; level < depth; level += 2) into = into.members.at(-1)?.inner ?? fail('inside of nothing')
    into.members.push(member(line.trim(), fail))
  } else fail('nothing goes inside of this')
}

function member(text: string, fail: Fail): Member {
  const [, at = '', kind, own = ''] = /^(\d+) (struct|union)(?: (\w+))?$/.exec(text) ?? []
  if (kind)
    return {offset: Number(at), type: '', name: own, array: '', inner: {kind: kind as Inner['kind'], members: []}}
  const [, offset = '', type = '', name = '', array = ''] =
    /^(\d+) (.+) (\w+)((?:\[\d+\])*)$/.exec(text) ?? fail('a member is OFFSET TYPE NAME')
  return {offset: Number(offset), type, name, array}
}
