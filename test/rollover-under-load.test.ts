import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { followingClient } from '../src/cluster/demo/following-client.ts'
import { issuePair } from '../src/cluster/issue-pair.ts'
import { systemRandom } from '../src/host/random.ts'
import { loadSigner } from '../src/keys/private-key.ts'
import { Secret } from '../src/keys/secret.ts'
import { encodeKubeconfig } from '../src/kube/encode-kubeconfig.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { type CARotationObject, caRotation } from '../src/kube/rollcall/ca-rotation.ts'
import { parseCertificatesPem } from '../src/x509/certificate.ts'
import { eventually } from './support/eventually.ts'
import { kubectl } from './support/kubectl.ts'
import { openssl } from './support/openssl.ts'
import { type PodsWithTokens, podsWithTokens } from './support/pods-with-tokens.ts'
import {
  type RollcallProcess,
  runRollcall,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'
import { type Program, TokenClients } from './support/token-clients.ts'

// A server with a CA of RSA, thirty programs with tokens of pods, ten of each kind, and five kubeconfigs that it knows nothing of.

const missing = ['python3', 'curl', 'kubectl'].filter(
  program => spawnSync(program, ['--help'], { stdio: 'ignore' }).error !== undefined,
)
const skip = missing.length > 0 ? `there is no ${missing.join(', ')} in PATH` : false
const patience = 60_000
const programs = ['node', 'python', 'curl'] as const
/** Of each kind so many have the first CA built in, and read no other. */
const stubborn = { node: 3, python: 2, curl: 3 }
const timings = {
  ...{ propagate: '3s', canaryRetry: '200ms', bridgeSoak: '1s', quiet: '2s', jitter: '1s' },
}

interface Member {
  program: Program
  name: string
  address: string
  follows: boolean
  /** As the cluster names it. */
  id: string
}

const folder = temporaryFolder()
const here = (name: string) => join(folder.path, name)
const admin = here('data/admin.kubeconfig')
const strangers = [1, 2, 3, 4, 5].map(number => `stranger-${number}`)
/** As whom the holder of a kubeconfig came: Debian's kubectl is two programs. */
const idsOf = new Map(strangers.map(name => [name, new Set<string>()]))
const strangerId = (name: string) => [...(idsOf.get(name) ?? [])]
let server: RollcallProcess | undefined
let clients: TokenClients | undefined
let pods: PodsWithTokens | undefined
let own: ReturnType<typeof followingClient> | undefined

before(async () => {
  if (skip) return
  await rsaCa()
  server = startRollcall(['server', '--dir', here('data'), '--port', '0', '--no-dashboard'])
  await server.ready
  own = followingClient(admin, 'test')
  pods = await podsWithTokens(own.client, here('pods'))
  clients = new TokenClients()
})

after(async () => {
  clients?.stopAll()
  await pods?.stop()
  own?.transport.closeConnections()
  await server?.stop()
  folder.remove()
})

const ca = async (...args: string[]) => {
  const { code, stdout, stderr } = await runRollcall(['ca', ...args])
  assert.ok(code === 0 || code === 3, `ca ${args.join(' ')}: ${stderr}`)
  return stdout
}
const asAdmin = ['--kubeconfig', admin]

test('thirty programs and five kubeconfigs are named one by one; the CA that is served changes when each has answered, and nobody who reads it again loses a request', {
  skip,
  timeout: 180_000,
}, async () => {
  const members = await crowd()
  for (const stranger of strangers) await give(stranger)
  await come(strangers)
  await ca('start', 'apiserver-serving', '--reason', 'Algorithm', ...timingFlags(), ...asAdmin)
  const [vouched, berta, left] = [strangers.slice(0, 2), strangers[2] ?? '', strangers.slice(3)]
  const deaf = members.filter(({ follows }) => !follows)
  const unready = () => [...deaf.map(idOf), ...strangers.flatMap(strangerId)]
  const all = await waitsFor(unready)
  const named = [...members.map(idOf), ...strangers.flatMap(strangerId)]
  assert.deepEqual(
    named.filter(id => !all.includes(id)),
    [],
    'everybody is named',
  )
  const readiness = JSON.parse(await ca('readiness', 'apiserver-serving', '-o', 'json', ...asAdmin))
  assert.deepEqual(waitingFor(readiness.consumers), unready().sort())
  assert.equal((await rotation('apiserver-serving-2'))?.status?.phase, 'Proving')

  // Some are left behind; some are started again; of what cannot be asked somebody says that it was seen to.
  const again = deaf.filter((_, index) => index % 2 === 0)
  const behind = deaf.filter((_, index) => index % 2 === 1)
  const name = 'apiserver-serving-2'
  await ca(
    'exclude',
    name,
    ...behind.map(idOf),
    ...left.flatMap(strangerId),
    '--reason',
    'gone tomorrow',
    ...asAdmin,
  )
  for (const member of again) await restart(member)
  for (const stranger of [...vouched, berta]) trustWhatIsPublished(stranger)
  await waitsFor(() => [...vouched, berta].flatMap(strangerId))
  assert.equal((await rotation(name))?.status?.phase, 'Proving')
  // Who comes once may not be asked that time.
  await waitsFor(
    () => vouched.flatMap(strangerId),
    () => come([berta]),
  )
  await ca(
    'ack',
    name,
    ...vouched.flatMap(strangerId),
    '--reason',
    'I changed the file',
    '--kubeconfig',
    here(berta),
  )
  await done(name, () => ca('status', '--kubeconfig', here(berta)))
  nobodyFailed(members, behind)
  const [comes] = parseCertificatesPem(readFileSync(here('data/ca/ca-apiserver-serving-2.crt'), 'utf8'))
  assert.equal(comes?.keyType, 'P-256')
  for (const member of behind)
    assert.ok((clients?.tallies.get(member.name)?.failed ?? 0) > 0, `${member.name} trusts the old CA alone`)
  await come([...vouched, berta])
})

test('a client certificate that no ledger knows keeps its CA in charge until its holder is left behind by name', {
  skip,
  timeout: 180_000,
}, async () => {
  const name = 'client-2'
  const before = new Map([...(clients?.tallies ?? [])].map(([member, { failed }]) => [member, failed]))
  await ca('start', 'client', ...timingFlags(), ...asAdmin)
  const holders = strangers.map(stranger => `user/${stranger}`)
  let live: string[] = []
  const isSo = async () => {
    const { status } = (await rotation(name)) ?? {}
    live =
      status?.blockers?.flatMap(text => /^LiveLeaf: (\S+)/.exec(text)?.[1] ?? `${status.phase} ${text}`) ?? []
    return status?.phase === 'Reissuing' && live.sort().join() === holders.join()
  }
  await eventually('each holder is named', isSo, patience).catch(() => {})
  assert.deepEqual(live, holders)
  await ca('exclude', name, ...holders, '--reason', 'get another one', ...asAdmin)
  await done(name)
  for (const stranger of strangers.slice(0, 3))
    assert.match(await as(stranger).fails('get --raw /api'), /Unauthorized|must be logged in/)
  for (const [member, { failed }] of clients?.tallies ?? [])
    if ((before.get(member) ?? 0) === 0) assert.equal(failed, 0, member)
})

/** The CA that the cluster begins with is of RSA; those that we make are of ECDSA. */
async function rsaCa(): Promise<void> {
  mkdirSync(here('data/pki'), { recursive: true, mode: 0o700 })
  const files = ['-keyout', here('data/pki/ca.key'), '-out', here('data/pki/ca.crt')]
  const made = ['-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=kubernetes', '-days', '3650']
  const usage = ['-addext', 'keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign']
  const { code, output } = await openssl(['req', '-x509', ...made, ...usage, ...files])
  assert.equal(code, 0, output)
}

/** Ten of each kind: on Node and curl each from an address of its own, those in Python from one, as behind a NAT. */
async function crowd(): Promise<Member[]> {
  const members = programs.flatMap((program, kind) =>
    Array.from({ length: 10 }, (_, index): Member => {
      const address = program === 'python' ? '127.2.9.1' : `127.2.${kind}.${index + 1}`
      const follows = index >= stubborn[program]
      return { program, name: `${program}-${index}`, address, follows, id: '' }
    }),
  )
  await Promise.all(members.map(start))
  return members
}

async function start(member: Member): Promise<void> {
  const { program, name, address, follows } = member
  const made = await pods?.make(name)
  member.id = `pod/${name} ${made?.uid}`
  const caFile = follows ? (pods?.projectedCa ?? '') : here('data/pki/ca.crt')
  clients?.start(program, {
    name,
    server: serverOf(admin),
    address,
    tokenFile: made?.tokenFile ?? '',
    caFile,
    follows,
  })
}

/** A new pod in its place, which reads the CA as it is now. */
async function restart(member: Member): Promise<void> {
  clients?.stop(member.program, member.name)
  await pods?.remove(member.name)
  member.name = `${member.name}-again`
  member.follows = true
  await start(member)
}

const serverOf = (path: string) =>
  selectContext(parseKubeconfig(readFileSync(path, 'utf8'), path)).cluster.server
const as = (stranger: string) => kubectl({ kubeconfig: here(stranger), home: folder.path })

/** A kubeconfig whose certificate is signed by hand with the CA's key: no request, no ledger. */
async function give(name: string): Promise<void> {
  const pem = readFileSync(here('data/pki/ca.crt'), 'utf8')
  const [certificate] = parseCertificatesPem(pem)
  const signer = loadSigner(new Secret(readFileSync(here('data/pki/ca.key'), 'utf8')))
  assert.ok(certificate)
  const holder = { commonName: name, organizations: ['system:masters'], usage: 'client auth' } as const
  const times = { lifetime: 86_400_000, now: Date.now() }
  const pair = await issuePair({ pem, certificate, signer }, { ...holder, ...times }, systemRandom)
  const text = encodeKubeconfig({
    server: serverOf(admin),
    certificateAuthority: { pem },
    user: { clientCertificate: { pem: pair.certificate }, clientKey: { pem: pair.key } },
    names: { cluster: 'kubernetes', user: name, context: name },
  })
  writeFileSync(here(name), text.reveal())
}

async function come(names: readonly string[]): Promise<void> {
  await Promise.all(names.map(name => as(name).ok('get --raw /version')))
}

/** Somebody has put into the file what the cluster publishes. */
function trustWhatIsPublished(stranger: string): void {
  const data = readFileSync(pods?.projectedCa ?? '').toString('base64')
  const text = readFileSync(here(stranger), 'utf8')
  writeFileSync(
    here(stranger),
    text.replace(/certificate-authority-data: \S+/, `certificate-authority-data: ${data}`),
  )
}

const timingFlags = () => Object.entries(timings).flatMap(([name, time]) => ['--timing', `${name}=${time}`])

async function rotation(name: string): Promise<CARotationObject | undefined> {
  return own?.client.get<CARotationObject>(caRotation.ref, { name })
}

async function done(name: string, meanwhile: () => Promise<unknown> = async () => {}): Promise<void> {
  const isDone = async () => {
    await meanwhile()
    return (await rotation(name))?.status?.phase === 'Done'
  }
  await eventually(`${name} is done`, isDone, patience).catch(() => {})
  const { phase, blockers } = (await rotation(name))?.status ?? {}
  assert.deepEqual([phase, blockers], ['Done', []])
}

interface Named {
  id: string
  verdict: string
}
const idOf = ({ id }: { id: string }) => id
const waitingFor = (consumers: readonly Named[]) =>
  consumers
    .filter(({ verdict }) => verdict !== 'Proven' && verdict !== 'Excluded')
    .map(idOf)
    .sort()

/** Until the rotation waits for these, as `ca status` names them, and nobody else. Resolves with all whom it names. */
async function waitsFor(wanted: () => string[], meanwhile = async () => {}): Promise<string[]> {
  let found: Named[] = []
  const isSo = async () => {
    await meanwhile()
    const [rotation] = JSON.parse(await ca('status', '-o', 'json', ...asAdmin))
    found = rotation.consumers
    for (const { id } of found) {
      const name = /^user\/(stranger-\d) at 127\.0\.0\.1 by kubectl/.exec(id)?.[1]
      idsOf.get(name ?? '')?.add(id)
    }
    return JSON.stringify(waitingFor(found)) === JSON.stringify(wanted().sort())
  }
  await eventually('it waits for nobody else', isSo, patience).catch(() => {})
  assert.deepEqual(waitingFor(found), wanted().sort())
  return found.map(idOf)
}

function nobodyFailed(members: readonly Member[], but: readonly Member[]): void {
  let requests = 0
  for (const member of members) {
    if (but.includes(member)) continue
    const tally = clients?.tallies.get(member.name)
    assert.equal(tally?.failed, 0, `${member.name}: ${tally?.why}`)
    requests += tally?.ok ?? 0
  }
  assert.ok(requests > 200, `${requests} requests`)
}
