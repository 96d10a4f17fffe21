import { readFileSync } from 'node:fs'

const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** Rollcall's own version, as package.json says. */
export const version =
  typeof manifest === 'object' && manifest && 'version' in manifest ? String(manifest.version) : 'unknown'
