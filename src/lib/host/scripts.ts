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

/** A node's folders as the rack file has them. */
export interface Folders {
  /** What all machines with one home share. */
  root: string
  environments: string
  /** The machines behind the node's name count as one. */
  pooled: boolean
}

/**
 * Says where things are and whether this version of the program is there, in the folder that is this machine's
 * (node/flexrack_node/base/home.py, which also makes it); looks for Python only if it is not.
 */
export function lookScript(hash: string, folders: Folders): string {
  const names = [
    'python3',
    ...Array.from({length: NEWEST_MINOR - OLDEST_MINOR + 1}, (_, index) => `python3.${NEWEST_MINOR - index}`),
  ]
  return `${ownFolderScript(folders)}
absolute ${quote([folders.environments])}; e=$a
d=$o/program/${hash}; p= f= s=absent
if [ -n "$o" ] && [ -f "$d/python" ]; then
  IFS= read -r p <"$d/python"
  if [ -x "$p" ]; then s=present; touch -c "$d"; else p=; fi
fi
if [ $s = absent ]; then
  for n in ${names.join(' ')}; do
    c=$(command -v $n) || continue
    p=$("$c" -I -c 'import sys; sys.exit(1) if sys.version_info < (3, ${OLDEST_MINOR}) else print(sys.executable)' 2>/dev/null </dev/null) && break
    f=$("$c" -V 2>&1 </dev/null); p=
  done
  o=$r
fi
printf '%s\n' "$s" "$o" "$e" "$p" "$f"
`
}

/** Succeeds if something of flexrack is there, of this machine as far as that is told by its name or its id. */
export function presentScript(folders: Pick<Folders, 'root' | 'pooled'>): string {
  return `${ownFolderScript(folders)}
n=\${o:-$k}
if [ -z "$n" ] && [ ! -f "$r/machine" ]; then n=$r; fi
[ -n "$n" ] && [ -f "$n/installed.jsonl" ]
`
}

/**
 * `r`: the root, absolute; `o`: the folder of this machine, empty where none says so exactly; `k`: one that has its
 * name or its id. Where these are not what they were, or nothing is claimed, base/home.py decides.
 */
function ownFolderScript({root, pooled}: Pick<Folders, 'root' | 'pooled'>): string {
  return `absolute() {
  case $1 in '~') a=$HOME;; '~/'*) a=$HOME/\${1#'~/'};; /*) a=$1;; *) a=$HOME/$1;; esac
}
absolute ${quote([root])}; r=$a h= m= o= k=
${
  pooled
    ? 'h=slurm m=slurm'
    : `if [ -r /proc/sys/kernel/hostname ]; then IFS= read -r h </proc/sys/kernel/hostname; else h=$(uname -n); fi
if [ -r /etc/machine-id ]; then IFS= read -r m </etc/machine-id; fi
case $m in *[!0-9a-f]*) m=;; esac`
}
for n in "$r" "$r/nodes/\${h%%.*}" "$r"/nodes/*; do
  [ -f "$n/machine" ] || continue
  IFS= read -r w <"$n/machine"
  case $w in "$h $m") o=$n; break;; "$h "*|*" $m") k=$n;; esac
done`
}

/** Reads what lookScript printed. */
export function readLook(text: string): Look {
  const [state = '', root = '', environments = '', python = '', found = ''] = text.split('\n')
  return {present: state === 'present', root, environments, python, found}
}

/** Runs installer.py out of the order that comes on stdin. */
export function installScript(python: string): string {
  const source = `import json, sys
order = json.load(sys.stdin)
scope = {"__name__": "installer"}
exec(order["files"]["installer.py"], scope)
scope["install"](order)`
  return `exec ${quote([python, '-I', '-B', '-c', source])}`
}

/**
 * One verb of the node program. Isolated from the user's Python settings and from site-packages (standard library
 * only), which also starts quicker; compiled modules are kept: they lie in the program's own folder, which never
 * changes under its hash.
 */
export function verbScript(
  installation: {python: string; folder: string; root: string; environments: string},
  verb: string,
): string {
  return `exec ${quote([installation.python, '-I', '-S', installation.folder, verb, installation.root, installation.environments])}`
}
