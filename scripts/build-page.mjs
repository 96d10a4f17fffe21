// The dashboard's page as plain JavaScript into dist/page: types stripped, imports rewritten as the server does it from the sources.
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
// Compiled just before, by build.mjs.
const { rewriteImports } = await import(join(root, 'dist/dashboard/page/rewrite-imports.js'))
const [from, to] = [join(root, 'dashboard'), join(root, 'dist/page')]
for (const file of globSync('**/*.ts', { cwd: from })) {
  const target = join(to, file.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, rewriteImports(stripTypeScriptTypes(readFileSync(join(from, file), 'utf8'))))
}
for (const file of ['index.html', 'style.css', 'icon.svg']) cpSync(join(from, file), join(to, file))
