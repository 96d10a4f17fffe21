import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { temporaryFolder } from './rollcall-process.ts'

export const softHsmModule = '/usr/lib/softhsm/libsofthsm2.so'

/** Why tests on SoftHSM cannot run here; undefined: they can. */
export function whyNoSoftHsm(): string | false {
  if (!existsSync(softHsmModule)) return 'softhsm2 is not installed'
  try {
    createRequire(import.meta.url)('pkcs11js')
    return false
  } catch {
    return 'pkcs11js is not compiled: npm rebuild pkcs11js'
  }
}

export interface SoftHsm {
  /** The environment that names its tokens' folder. */
  environment: { SOFTHSM2_CONF: string }
  folder: string
  pinFile: string
  /** `pkcs11:token=LABEL;…?module-path=…&pin-source=…` */
  uri(path: string): string
  pull(): void
  putBack(): void
  remove(): void
}

/** A token of its own, in a folder of its own. */
export function softHsm(label: string, pin = '97531'): SoftHsm {
  const folder = temporaryFolder()
  const tokens = join(folder.path, 'tokens')
  const configuration = join(folder.path, 'softhsm2.conf')
  const pinFile = join(folder.path, 'pin')
  mkdirSync(tokens)
  writeFileSync(
    configuration,
    `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`,
  )
  writeFileSync(pinFile, `${pin}\n`, { mode: 0o600 })
  const environment = { SOFTHSM2_CONF: configuration }
  execFileSync(
    'softhsm2-util',
    ['--init-token', '--free', '--label', label, '--so-pin', '86420864', '--pin', pin],
    { env: { ...process.env, ...environment }, stdio: 'ignore' },
  )
  return {
    environment,
    folder: folder.path,
    pinFile,
    uri: path => `pkcs11:${path}?module-path=${softHsmModule}&pin-source=file:${pinFile}`,
    pull() {
      renameSync(tokens, `${tokens}.pulled`)
      mkdirSync(tokens)
    },
    putBack() {
      renameSync(`${tokens}.pulled`, tokens)
    },
    remove: () => folder.remove(),
  }
}
