import {CliError} from '../base/index.ts'
import {quote, type NodeShell} from '../ssh/index.ts'
import {count} from './count.ts'
import {packFiles} from './pack.ts'
import type {TransferOptions, Upload} from './types.ts'

/**
 * Puts files into a folder on a node, all or nothing: they are unpacked beside it and renamed, so a cut leaves what was
 * there. Errors: NODE_UNREACHABLE when the connection is lost, REMOTE_FAILED with what tar said, INTERRUPTED.
 */
export async function uploadFolder(shell: NodeShell, upload: Upload, options: TransferOptions = {}): Promise<void> {
  const input = count(await packFiles(upload.folder, upload.files), options.onBytes)
  const result = await shell.exec(uploadScript(upload.target, upload.files.at(-1)), {
    input,
    ...(options.signal ? {signal: options.signal} : {}),
  })
  if (result.status === 0) return
  throw new CliError('REMOTE_FAILED', `${upload.target} could not be written on ${shell.node}`, {
    details: {
      node: shell.node,
      path: upload.target,
      status: result.status,
      signal: result.signal,
      stderr: result.stderr.trimEnd().split('\n').slice(-5).join('\n'),
    },
  })
}

/**
 * tar itself tells of a stream cut within a file; one cut between two files ends well for some tars, so the last file
 * must be there. The draft is removed however the script ends (a signal that came while tar failed must not end the
 * removal itself); the old folder only after the new one is in place.
 */
export function uploadScript(target: string, last: string | undefined): string {
  const path = quote([target.replace(/\/+$/, '')])
  return `t=${path}
umask 077
d="$t.part-$$"; o="$t.old-$$"
trap 'trap "" HUP INT TERM; rm -rf "$d"' EXIT
trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
mkdir -p "$(dirname "$t")" && mkdir "$d" || exit 1
tar -xof - -C "$d" || exit 1
${last === undefined ? '' : `[ -e "$d"/${quote([last])} ] || [ -h "$d"/${quote([last])} ] || { echo 'the transfer broke off' >&2; exit 1; }\n`}if [ -e "$t" ]; then mv "$t" "$o" || exit 1; fi
if mv "$d" "$t"; then rm -rf "$o"; else [ -e "$o" ] && mv "$o" "$t"; exit 1; fi
`
}
