/** How the modules of the page, and of the libraries it uses, find each other in a browser. Pure. */

/** What the page imports by name, and what those import: the only ones that are served. */
export const vendorModules = {
  preact: 'preact.js',
  'preact/hooks': 'preact-hooks.js',
  '@preact/signals': 'signals.js',
  '@preact/signals-core': 'signals-core.js',
  htm: 'htm.js',
} as const

export type VendorModule = keyof typeof vendorModules

const isVendor = (name: string): name is VendorModule => Object.hasOwn(vendorModules, name)

const imports = /(\bfrom\s*|\bimport\s*)(["'])([^"'\n]+)\2/g

/** What a module imports, as it is written there. */
export function importsOf(code: string): string[] {
  return [...code.matchAll(imports)].map(([, , , path = '']) => path)
}

/** Bare imports become paths of ours, and `./x.ts` becomes `./x.js`. Throws RangeError for a module nobody serves. */
export function rewriteImports(code: string): string {
  return code.replace(imports, (_whole, keyword: string, quote: string, path: string) => {
    if (path.startsWith('.')) return keyword + quote + path.replace(/\.ts$/, '.js') + quote
    if (!isVendor(path)) throw new RangeError(`the page imports ${path}, which is not served`)
    return `${keyword}${quote}/dashboard/vendor/${vendorModules[path]}${quote}`
  })
}

/** A source map is not served: a browser that looks for it would only find 404. */
export function withoutSourceMap(code: string): string {
  return code.replace(/\n?\/\/# sourceMappingURL=\S+\s*$/, '\n')
}
