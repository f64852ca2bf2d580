export type Editor = 'code' | 'cursor' | 'zed'

/**
 * The words that open a folder of a host in an editor. Its path is absolute: without one VS Code opens nothing. Pure.
 */
export function editorWords(editor: Editor, alias: string, folder: string): string[] {
  return editor === 'zed'
    ? ['zed', editorAddress('zed', alias, folder)]
    : [editor, '--folder-uri', `vscode-remote://ssh-remote+${alias}${encoded(folder)}`]
}

/** The same as an address, for whoever has no such command. Pure. */
export function editorAddress(editor: Editor, alias: string, folder: string): string {
  return editor === 'zed'
    ? `zed://ssh/${alias}${encoded(folder)}`
    : `${editor === 'code' ? 'vscode' : editor}://vscode-remote/ssh-remote+${alias}${encoded(folder)}`
}

function encoded(folder: string): string {
  return folder.split('/').map(encodeURIComponent).join('/')
}
