import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import { temporaryFolder } from './rollcall-process.ts'
import type { TokenEquipment } from './softhsm.ts'
import { startSwtpm, whyNoSwtpm } from './swtpm.ts'

const [modulePath] = globSync('/usr/lib/*/pkcs11/libtpm2_pkcs11.so')

/** Why a token in a software TPM cannot be had here; false: it can. */
export function whyNoTpm2Pkcs11(): string | false {
  if (modulePath === undefined) return 'libtpm2-pkcs11-1 is not installed'
  for (const program of ['tpm2-abrmd', 'dbus-daemon', 'dbus-send', 'tpm2_shutdown'])
    if (spawnSync('which', [program]).status !== 0) return `${program} is not installed`
  if (globSync('/usr/lib/*/libtss2-tcti-tabrmd.so.0').length === 0)
    return 'libtss2-tcti-tabrmd0 is not installed'
  return whyNoSwtpm()
}

const leftovers = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of leftovers) child.kill('SIGKILL')
})

/** A bus of its own for the resource manager: it shares out the TPM's three places for keys, as /dev/tpmrm0 does. */
const busConfig = (folder: string) => `<busconfig>
<type>session</type>
<listen>unix:path=${folder}/bus.sock</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>`

/** A token whose keys a software TPM wraps: libtpm2-pkcs11 on tpm2-abrmd on swtpm. */
export async function tpm2Pkcs11(label: string, pin: string): Promise<TokenEquipment> {
  const folder = temporaryFolder()
  const pinFile = join(folder.path, 'pin')
  writeFileSync(pinFile, `${pin}\n`, { mode: 0o600 })
  const store = join(folder.path, 'store')
  mkdirSync(store)
  const environment = {
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${folder.path}/bus.sock`,
    TPM2_PKCS11_STORE: store,
    TPM2_PKCS11_TCTI: 'tabrmd:bus_type=session',
    // What the TSS reports as errors is what `pull` is for.
    TSS2_LOG: 'all+none',
    TPM2_PKCS11_LOG_LEVEL: '0',
  }
  const tpm = await startSwtpm()
  writeFileSync(join(folder.path, 'bus.conf'), busConfig(folder.path))
  const bus = start('dbus-daemon', ['--nofork', '--nopidfile', `--config-file=${folder.path}/bus.conf`])
  await eventually('the bus listens', () => existsSync(`${folder.path}/bus.sock`))
  let manager: Running

  async function manage(): Promise<void> {
    const options = ['--session', '--allow-root', '--flush-all', `--tcti=swtpm:path=${tpm.socket}`]
    manager = start('tpm2-abrmd', options, environment)
    await eventually('the resource manager answers', () => hasOwner(environment))
  }
  await manage()
  initialize(label, pin, environment)
  return {
    environment,
    pinFile,
    /** What is said of a TPM that is away. */
    away: /token|PKCS#11/,
    uri: path => `pkcs11:${path}?module-path=${modulePath}&pin-source=file:${pinFile}`,
    async pull() {
      await manager.end()
      // As the kernel does it. Without, a TPM counts what may have been a guess at a PIN, and locks itself after three.
      const { status } = spawnSync('tpm2_shutdown', ['--clear', `--tcti=swtpm:path=${tpm.socket}`])
      assert.equal(status, 0)
      await tpm.unplug()
    },
    async putBack() {
      await tpm.plug()
      await manage()
    },
    async remove() {
      await manager.end()
      await bus.end()
      await tpm.remove()
      folder.remove()
    },
  }
}

interface Running {
  end(): Promise<void>
}

function start(program: string, args: string[], environment: Record<string, string> = {}): Running {
  const child = spawn(program, args, { stdio: 'ignore', env: { ...process.env, ...environment } })
  leftovers.add(child)
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  void ended.then(() => leftovers.delete(child))
  return {
    end() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

function hasOwner(environment: Record<string, string>): boolean {
  const ask = [
    '--session',
    '--print-reply',
    '--dest=org.freedesktop.DBus',
    '/',
    'org.freedesktop.DBus.NameHasOwner',
  ]
  const { stdout } = spawnSync('dbus-send', [...ask, 'string:com.intel.tss2.Tabrmd'], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  })
  return stdout.includes('boolean true')
}

/** In a process of its own: what it loads must find the environment as it is then. */
function initialize(label: string, pin: string, environment: Record<string, string>): void {
  const script = `
    const { PKCS11 } = require(${JSON.stringify(createRequire(import.meta.url).resolve('pkcs11js'))})
    const module = new PKCS11()
    module.load(${JSON.stringify(modulePath)})
    module.C_Initialize({ flags: 2 })
    const [slot] = module.C_GetSlotList(true)
    module.C_InitToken(slot, '86420864', ${JSON.stringify(label)}.padEnd(32))
    const session = module.C_OpenSession(slot, 6)
    module.C_Login(session, 0, '86420864')
    module.C_InitPIN(session, ${JSON.stringify(pin)})`
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the token cannot be initialized: ${stderr}`)
}
