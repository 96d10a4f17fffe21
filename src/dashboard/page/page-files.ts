/** The files of the page: its own, and those of the libraries it uses, out of node_modules. */
import { stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'
import { systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import { importsOf, rewriteImports, vendorModules, withoutSourceMap } from './rewrite-imports.ts'

export interface PageFile {
  contentType: string
  content: Uint8Array
}

/** By the path below /dashboard/. Undefined: there is none. */
export type PageFiles = (path: string) => Promise<PageFile | undefined>

const fixed: Readonly<Record<string, { file: string; contentType: string }>> = {
  '': { file: 'index.html', contentType: 'text/html; charset=utf-8' },
  'style.css': { file: 'style.css', contentType: 'text/css; charset=utf-8' },
  'icon.svg': { file: 'icon.svg', contentType: 'image/svg+xml' },
}
const script = 'text/javascript; charset=utf-8'

/** In the repository the page is TypeScript and stripped of its types when it is served; the package has it built. */
export function pageFiles(disk: Pick<Disk, 'read'>): PageFiles {
  const fromSource = import.meta.url.endsWith('.ts')
  const folder = new URL(fromSource ? '../../../dashboard/' : '../../page/', import.meta.url)
  const served = new Map<string, PageFile>()
  const textOf = async (url: string | URL) => new TextDecoder().decode(await disk.read(fileURLToPath(url)))

  async function read(path: string): Promise<PageFile | undefined> {
    const known = Object.hasOwn(fixed, path) ? fixed[path] : undefined
    if (known) {
      const url = new URL(known.file, folder)
      const content =
        path === '' ? await withPreloads(await textOf(url), read) : await disk.read(fileURLToPath(url))
      return { contentType: known.contentType, content }
    }
    const vendor = Object.entries(vendorModules).find(([, file]) => path === `vendor/${file}`)?.[0]
    if (vendor !== undefined) return asScript(rewriteImports(await textOf(import.meta.resolve(vendor))))
    // No other path leads to a file: names of modules have no dots but the last.
    const module = /^app\/((?:[a-z0-9-]+\/)*[a-z0-9-]+)\.js$/.exec(path)?.[1]
    if (module === undefined) return undefined
    const code = await textOf(new URL(`${module}.${fromSource ? 'ts' : 'js'}`, folder))
    return asScript(fromSource ? rewriteImports(stripTypeScriptTypes(code)) : code)
  }

  return async path => {
    const known = served.get(path)
    if (known) return known
    const file = await read(path).catch(error => {
      if (systemCode(error) === 'ENOENT') return undefined
      throw error
    })
    // Only what is there is kept, since anybody may ask for anything; and no source, so that a change is seen at once.
    if (file && !fromSource) served.set(path, file)
    return file
  }
}

/** Names all modules in the page, which a browser would else learn of one import after the other. */
async function withPreloads(page: string, read: PageFiles): Promise<Uint8Array> {
  const modules = new Set(['/dashboard/app/main.js'])
  for (const module of modules) {
    const file = await read(module.slice('/dashboard/'.length))
    for (const path of importsOf(new TextDecoder().decode(file?.content)))
      modules.add(new URL(path, `http://page${module}`).pathname)
  }
  const links = [...modules].map(module => `    <link rel="modulepreload" href="${module}">\n`)
  return new TextEncoder().encode(page.replace('  </head>', `${links.join('')}  </head>`))
}

function asScript(code: string): PageFile {
  return { contentType: script, content: new TextEncoder().encode(withoutSourceMap(code)) }
}
