// node --import loaded-files.mjs: notes every file that is loaded, import or require, in the file LOADED_FILES names.
import {appendFileSync} from 'node:fs'
import {registerHooks} from 'node:module'

registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) appendFileSync(process.env.LOADED_FILES, `${url.slice(7)}\n`)
    return nextLoad(url, context)
  },
})
