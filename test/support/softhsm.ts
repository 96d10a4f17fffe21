import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
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

/** Why TLS with a key in a token cannot be tried; false: it can. */
export function whyNoTokenTls(): string | false {
  const engine = '/usr/lib/*/engines-3/pkcs11.so'
  if (globSync(engine).length === 0) return `${engine} is missing: libengine-pkcs11-openssl`
  const client = '/usr/lib/*/pkcs11/p11-kit-client.so'
  return globSync(client).length === 0 && `${client} is missing: p11-kit-modules`
}

export interface EmptySoftHsm {
  /** The environment that names its tokens' folder. */
  environment: { SOFTHSM2_CONF: string }
  folder: string
  pull(): void
  putBack(): void
  remove(): void
}

/** A token that tests drive, whatever keeps its keys. */
export interface TokenEquipment {
  /** What a process needs that uses it. */
  environment: Record<string, string>
  pinFile: string
  /** What is said while it is away. */
  away: RegExp
  /** `pkcs11:PATH?module-path=…&pin-source=…` */
  uri(path: string): string
  /** Takes it out of the machine; what it holds stays. */
  pull(): void | Promise<void>
  putBack(): void | Promise<void>
  remove(): void | Promise<void>
}

export interface SoftHsm extends EmptySoftHsm, TokenEquipment {
  environment: { SOFTHSM2_CONF: string }
  pull(): void
  putBack(): void
  remove(): void
}

/** SoftHSM2 without a token, in a folder of its own. */
export function emptySoftHsm(): EmptySoftHsm {
  const folder = temporaryFolder()
  const tokens = join(folder.path, 'tokens')
  const configuration = join(folder.path, 'softhsm2.conf')
  mkdirSync(tokens)
  writeFileSync(
    configuration,
    `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`,
  )
  return {
    environment: { SOFTHSM2_CONF: configuration },
    folder: folder.path,
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

/** A token of its own. */
export function softHsm(label: string, pin = '97531'): SoftHsm {
  const empty = emptySoftHsm()
  const pinFile = join(empty.folder, 'pin')
  writeFileSync(pinFile, `${pin}\n`, { mode: 0o600 })
  execFileSync(
    'softhsm2-util',
    ['--init-token', '--free', '--label', label, '--so-pin', '86420864', '--pin', pin],
    { env: { ...process.env, ...empty.environment }, stdio: 'ignore' },
  )
  return {
    ...empty,
    pinFile,
    away: new RegExp(`token "${label}" is not there`),
    uri: path => `pkcs11:${path}?module-path=${softHsmModule}&pin-source=file:${pinFile}`,
  }
}
