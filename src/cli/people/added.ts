/** What `user add` answers. */
export interface AddedUser {
  name: string
  admin: boolean
  keys: number
  /** Where the head is and what it is known by; no secret. */
  invitation: string
}

export function addedText(rack: string | undefined): (added: AddedUser) => string {
  return ({name, admin, keys, invitation}) => {
    const how =
      keys === 0
        ? `a token for them: flexrack token create --user ${name}`
        : keys === 1
          ? 'their SSH key'
          : `one of ${keys} SSH keys`
    const where = rack === undefined ? '' : ` --rack ${rack}`
    return [
      `${name} is ${admin ? 'an admin' : 'a user'} of this rack, and logs in with ${how}.`,
      ...(admin ? [] : [`Without a role they reach nothing: flexrack project grant PROJECT user:${name} member`]),
      `They need this rack's file, an account on the head's node, and once:`,
      '',
      `  flexrack login --user ${name}${where} --invitation ${invitation}`,
    ].join('\n')
  }
}
