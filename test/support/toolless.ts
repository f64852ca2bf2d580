import {existsSync} from 'node:fs'
import {mkdir, readdir, symlink} from 'node:fs/promises'
import {join} from 'node:path'

/** What compiles and builds: gcc-12, x86_64-linux-gnu-g++, cmake, ... */
const COMPILES =
  /(^|-)(gcc|g\+\+|cpp|cc|c\+\+|c89|c99|clang|clang\+\+|ld|ld\.\w+|as|ar|ranlib|strip|objcopy)(-[\d.]+)?$|^(cmake|ctest|cpack|make|gmake|ninja|ccache|zig|node|npm|npx)$/

/** A PATH with all of this machine's programs but compilers, their tools, and Node.js. */
export async function toolless(folder: string): Promise<string> {
  await mkdir(folder, {recursive: true})
  for (const place of ['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/bin', '/sbin']) {
    for (const name of await readdir(place).catch(() => [])) {
      if (!COMPILES.test(name) && !existsSync(join(folder, name)))
        await symlink(join(place, name), join(folder, name)).catch(() => {})
    }
  }
  return folder
}
