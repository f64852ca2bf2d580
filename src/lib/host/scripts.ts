import {quote} from '../ssh/index.ts'

/** What a look at a node found. */
export interface Look {
  present: boolean
  /** Absolute. */
  root: string
  /** Absolute. */
  environments: string
  /** Absolute path of an interpreter of 3.9 or newer; empty if there is none. */
  python: string
  /** What was found instead, for the message. */
  found: string
}

const OLDEST_MINOR = 9
const NEWEST_MINOR = 15

/** Says where things are and whether this version of the program is there; looks for Python only if it is not. */
export function lookScript(hash: string, folders: {root: string; environments: string}): string {
  const names = ['python3', ...Array.from({length: NEWEST_MINOR - OLDEST_MINOR + 1}, (_, index) => `python3.${NEWEST_MINOR - index}`)]
  return `absolute() {
  case $1 in '~') a=$HOME;; '~/'*) a=$HOME/\${1#'~/'};; /*) a=$1;; *) a=$HOME/$1;; esac
}
absolute ${quote([folders.environments])}; e=$a
absolute ${quote([folders.root])}; r=$a
d=$r/program/${hash}; p= f= s=absent
if [ -f "$d/python" ]; then
  IFS= read -r p <"$d/python"
  if [ -x "$p" ]; then s=present; touch -c "$d"; else p=; fi
fi
if [ $s = absent ]; then
  for n in ${names.join(' ')}; do
    c=$(command -v $n) || continue
    p=$("$c" -I -c 'import sys; sys.exit(1) if sys.version_info < (3, ${OLDEST_MINOR}) else print(sys.executable)' 2>/dev/null </dev/null) && break
    f=$("$c" -V 2>&1 </dev/null); p=
  done
fi
printf '%s\\n' "$s" "$r" "$e" "$p" "$f"
`
}

/** Reads what lookScript printed. */
export function readLook(text: string): Look {
  const [state = '', root = '', environments = '', python = '', found = ''] = text.split('\n')
  return {present: state === 'present', root, environments, python, found}
}

/** Runs arrival.py out of the order that comes on stdin. */
export function installScript(python: string): string {
  const source = `import json, sys
order = json.load(sys.stdin)
scope = {"__name__": "arrival"}
exec(order["files"]["arrival.py"], scope)
scope["install"](order)`
  return `exec ${quote([python, '-I', '-B', '-c', source])}`
}

/**
 * One verb of the node program. Isolated from the user's Python settings and from site-packages (standard library only), which also
 * starts quicker; compiled modules are kept: they lie in the program's own folder, which never changes under its hash.
 */
export function verbScript(installation: {python: string; folder: string; root: string; environments: string}, verb: string): string {
  return `exec ${quote([installation.python, '-I', '-S', installation.folder, verb, installation.root, installation.environments])}`
}
