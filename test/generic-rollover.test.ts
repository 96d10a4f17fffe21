import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { clientOf } from '../src/cluster/demo/running-up.ts'
import { hostPorts } from '../src/cluster/host-ports.ts'
import { type CertificateAuthority, issuePair } from '../src/cluster/issue-pair.ts'
import { generateSigner } from '../src/keys/private-key.ts'
import { selfSignedCa } from '../src/keys/self-signed.ts'
import { encodeKubeconfig } from '../src/kube/encode-kubeconfig.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { type CARotationObject, caRotation } from '../src/kube/rollcall/ca-rotation.ts'
import { type ConfigMap, type KubeObject, type Lease, resources, type Secret } from '../src/kube/types.ts'
import { authorityOf } from '../src/sign/authority.ts'
import { parseCertificatesPem } from '../src/x509/certificate.ts'
import { formatName } from '../src/x509/name.ts'
import { eventually } from './support/eventually.ts'
import {
  type RollcallProcess,
  runRollcall,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'

const folder = temporaryFolder()
const here = (name: string) => join(folder.path, name)
const text = (name: string) => readFileSync(here(name), 'utf8')
const { clock, random } = hostPorts
const day = 86_400_000
const stops: (() => Promise<unknown>)[] = []
after(async () => {
  for (const stop of stops.toReversed()) await stop()
  folder.remove()
})

test('the CAs of an API server that is not ours are changed by hooks: killed amid it, a hook that fails, nobody locked out', {
  timeout: 240_000,
}, async () => {
  const ca = await makeCa()
  await writePki(ca)
  const server = await startStockApi()
  for (const [user, group] of [['anna', 'system:masters'], ['ben', 'system:masters'], ['rollcall']])
    await writeKubeconfig(ca, server, `${user}`, group === undefined ? [] : [group])
  writeHook()
  writeFileSync(here('rollover.yaml'), rolloverFile(new URL(server).host))
  const stolen = text('anna.kubeconfig')
  const bootstrappers = 'system:bootstrappers:kubeadm:default-node-token'
  await writeKubeconfig(
    ca,
    server,
    'bootstrap',
    ['system:bootstrappers', bootstrappers],
    'system:bootstrap:abcdef',
  )

  const killed = startController()
  await killed.ready
  await eventually('the trust roots are there', () => existsSync(here('rollcall/trust-roots')))
  const agent = startAgent()
  await eventually('the node has answered', async () => {
    return /^agent\/worker-1 +Agent +Live .*client L2/m.test(await anna('trust', 'ls'))
  }).catch(error => assert.fail(`${error.message}\n${agent.stderr()}`))
  const ready = await anna('ca', 'readiness', 'apiserver-serving')
  assert.match(ready, /^controller +Orchestrator +WillLoad/m)
  assert.match(ready, /^agent\/worker-1 +Agent +WillLoad/m)
  await anna('ca', 'start', 'client', ...timings)
  await ben('ca', 'ack', 'client-2', 'ledger', '--reason', 'nothing else was ever signed')
  await judgeClientsByHand('client-2')
  // It waits for people at the latest when the old CA is to be dropped.
  await phase('client-2', 'Bridging', 'IssuerSwitch', 'Reissuing', 'Unbridging', 'DistrustingServers')
  killed.child.kill('SIGKILL')
  await killed.ended
  await giveUpLease()
  startController()
  await judgeClientsByHand('client-2')
  await phase('client-2', 'Done')
  assert.deepEqual(issuers(text('client-ca.crt')), ['CN=rollcall-client-ca-2'])
  assert.deepEqual(issuers(await rootCa()), ['CN=kubernetes'], 'who was started amid it publishes what stood')
  assert.deepEqual(
    issuers(text('node/pki/kubelet-client-current.pem')),
    ['CN=rollcall-client-ca-2'],
    'the node was told to renew',
  )
  assert.deepEqual(
    leafOf('anna'),
    'CN=rollcall-client-ca-2',
    'her kubeconfig has a certificate of the new CA',
  )
  assert.equal(statSync(here('anna.kubeconfig')).mode & 0o777, 0o600)
  writeFileSync(here('stolen.kubeconfig'), stolen)
  const refused = await runRollcall(['ca', 'status', '--kubeconfig', here('stolen.kubeconfig')])
  assert.match(refused.stderr, /Unauthorized/, 'what the old CA had signed is refused')

  writeFileSync(here('broken'), '')
  await anna('ca', 'start', 'apiserver-serving', ...timings)
  await tellOfRestart('apiserver-serving-2')
  const paused = await phase('apiserver-serving-2', 'Paused')
  assert.match(
    `${paused.status?.blockers?.[0]}`,
    /^OrderFailed: hook present of cp-1 ended with code 1: no space left/,
  )
  assert.equal(issuers(text('serving.crt'))[0], 'CN=kubernetes', 'what was served is served still')
  rmSync(here('broken'))
  await anna('ca', 'resume', 'apiserver-serving-2')
  await phase('apiserver-serving-2', 'DistrustingConsumers')
  await tellOfRestart('apiserver-serving-2')
  await phase('apiserver-serving-2', 'Done')

  const only = ['CN=rollcall-apiserver-serving-ca-2']
  assert.deepEqual(issuers(text('serving.crt')), only, 'the bare chain is served')
  assert.deepEqual(issuers(await everyPlace()), only)
  assert(existsSync(here('restarted')), 'what reads the root CA file once was started anew')
  // Exit code 0: every place brings a fresh machine through to what is served now.
  const probed = await anna('trust', 'probe', '--rollover', here('rollover.yaml'))
  for (const place of ['cluster-info', 'join-data', 'everybody', 'root-ca-file', 'rollcall'])
    assert.match(probed, new RegExp(`^${place} .* yes$`, 'm'))
})

/** A step that waits for people: they are told what to do, and nobody has to say that it is done. */
let judgedBy = ''
async function judgeClientsByHand(name: string): Promise<void> {
  const step = /^StepAwaited: clientTrust of cp-1 have cp-1 judge clients by (\S+)$/
  judgedBy = await eventually('people are told by what to judge clients', async () => {
    const { status } = await ask(client => client.get<CARotationObject>(caRotation.ref, { name }))
    const bundle = status?.blockers?.flatMap(text => step.exec(text)?.[1] ?? [])[0]
    return bundle !== judgedBy && bundle
  })
  copyFileSync(judgedBy, here('client-ca.crt'))
  process.kill(Number(text('pid')), 'SIGHUP')
}

/** What nothing can read back: whoever reads ben's kubeconfig once was started anew, and a human other than the author says so. */
async function tellOfRestart(name: string): Promise<void> {
  await eventually('people are told what to start anew', async () => {
    const { status } = await ask(client => client.get<CARotationObject>(caRotation.ref, { name }))
    return status?.blockers?.some(text =>
      /^SinkStale: ben .*rollcall ca ack ROTATION restart\/ben/.test(text),
    )
  })
  await ben('ca', 'ack', name, 'restart/ben', '--reason', 'it was started anew')
}

const timings = ['bridgeSoak=200ms', 'quiet=200ms', 'jitter=200ms'].flatMap(one => ['--timing', one])

async function as(user: string, words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runRollcall([...words, '--kubeconfig', here(`${user}.kubeconfig`)])
  assert.equal(code, 0, `${words.join(' ')}: ${stdout}${stderr}`)
  return stdout
}
const anna = (...words: string[]) => as('anna', words)
const ben = (...words: string[]) => as('ben', words)

/** Asked with a new connection each time, as people do. */
async function ask<T>(
  run: (client: Awaited<ReturnType<typeof clientOf>>['client']) => Promise<T>,
): Promise<T> {
  const { client, transport } = await clientOf(here('ben.kubeconfig'))
  try {
    return await run(client)
  } finally {
    transport.closeConnections()
  }
}

function phase(name: string, ...wanted: string[]): Promise<CARotationObject> {
  let last = ''
  return eventually(
    `${name} is ${wanted.join(' or ')}`,
    async () => {
      const rotation = await ask(client => client.get<CARotationObject>(caRotation.ref, { name }))
      const { phase: now = '', blockers } = rotation.status ?? {}
      last = `${now}: ${blockers?.join('; ')}`
      if (now === 'Aborted' || now === 'RolledBack') assert.fail(`${name} ${last}`)
      return wanted.includes(now) ? rotation : undefined
    },
    120_000,
  ).catch(error => assert.fail(`${error.message}; it is ${last}\n${controllers.at(-1)?.stderr()}`))
}

function startAgent(): RollcallProcess {
  const flags = {
    node: 'worker-1',
    'node-ip': '127.0.0.1',
    address: '127.0.0.1',
    port: '0',
    'bootstrap-kubeconfig': here('bootstrap.kubeconfig'),
    kubeconfig: here('node/kubeconfig'),
    'cert-dir': here('node/pki'),
    'trust-roots': here('rollcall/trust-roots'),
  }
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
  const agent = startRollcall(['agent', '--rotate-certificates', ...words])
  stops.push(() => agent.stop())
  return agent
}

const controllers: RollcallProcess[] = []
function startController(): RollcallProcess {
  const flags = ['--kubeconfig', here('rollcall.kubeconfig'), '--rollover', here('rollover.yaml')]
  const controller = startRollcall(['controller', ...flags])
  controllers.push(controller)
  stops.push(() => controller.stop())
  return controller
}

/** As an operator who knows that its holder is dead: nobody has to wait until it has expired. */
async function giveUpLease(): Promise<void> {
  const target = { namespace: 'kube-system', name: 'rollcall-controller' }
  await ask(async client => {
    const lease = await client.get<Lease>(resources.leases, target)
    await client.update<Lease>(resources.leases, { ...lease, spec: { ...lease.spec, holderIdentity: '' } })
  })
}

async function makeCa(): Promise<CertificateAuthority> {
  const signer = generateSigner('ECDSA-P256', random)
  const times = { notBefore: clock.now() - day, notAfter: clock.now() + 3650 * day }
  const pem = await selfSignedCa({ commonName: 'kubernetes', signer, random, ...times })
  writeFileSync(here('ca.key'), signer.exportPem().reveal(), { mode: 0o600 })
  writeFileSync(here('ca.crt'), pem)
  return { pem, ...authorityOf(pem, signer) }
}

async function writePki(ca: CertificateAuthority): Promise<void> {
  const identity = { commonName: 'kube-apiserver', organizations: [], usage: 'server auth' } as const
  const names = { dnsNames: ['kubernetes'], ipAddresses: ['127.0.0.1'] }
  const pair = await issuePair(ca, { ...identity, ...names, lifetime: 365 * day, now: clock.now() }, random)
  writeFileSync(here('serving.crt'), pair.certificate)
  writeFileSync(here('serving.key'), pair.key.reveal(), { mode: 0o600 })
  for (const name of ['client-ca.crt', 'root-ca.crt']) writeFileSync(here(name), ca.pem)
  mkdirSync(here('rollcall'), { mode: 0o700 })
}

async function startStockApi(): Promise<string> {
  const program = fileURLToPath(new URL('support/stock-api.ts', import.meta.url))
  const child = spawn(process.execPath, [program, folder.path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>(resolve => child.on('exit', () => resolve()))
  stops.push(() => {
    child.kill('SIGTERM')
    return ended
  })
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('ready ')) return line.slice('ready '.length)
  throw new Error('the API server did not start')
}

async function writeKubeconfig(
  ca: CertificateAuthority,
  server: string,
  user: string,
  organizations: string[],
  commonName = user,
): Promise<void> {
  const identity = { commonName, organizations, usage: 'client auth' } as const
  const pair = await issuePair(ca, { ...identity, lifetime: 365 * day, now: clock.now() }, random)
  const kubeconfig = encodeKubeconfig({
    server,
    certificateAuthority: { pem: ca.pem },
    user: { clientCertificate: { pem: pair.certificate }, clientKey: { pem: pair.key } },
  })
  writeFileSync(here(`${user}.kubeconfig`), kubeconfig.reveal(), { mode: 0o600 })
}

/** Swaps the files of the API server and has it read them, as an operator's own script does. */
function writeHook(): void {
  const script = `#!/bin/sh
set -e
cd ${folder.path}
case $1 in
probe)
  cp "$ROLLCALL_CERTIFICATE" "probe-$ROLLCALL_SLOT.crt"; cp "$ROLLCALL_KEY" "probe-$ROLLCALL_SLOT.key" ;;
present)
  if [ -e broken ]; then echo 'no space left' >&2; exit 1; fi
  cp "$ROLLCALL_CERTIFICATE" serving.crt; cp "$ROLLCALL_KEY" serving.key ;;
restart) echo "$ROLLCALL_FILE" >> restarted; exit 0 ;;
esac
kill -HUP "$(cat pid)"
`
  writeFileSync(here('hook.sh'), script, { mode: 0o755 })
}

function rolloverFile(address: string): string {
  const hook = (word: string) => `{command: [${here('hook.sh')}, ${word}], attempts: 2}`
  const kubeconfigs = ['anna', 'ben', 'rollcall'].map(name => {
    const restart = name === 'ben' ? ', restart: wait' : ''
    return `  - {name: ${name}, kubeconfig: ${here(`${name}.kubeconfig`)}${restart}}`
  })
  return `directory: ${here('rollcall')}
intervalSeconds: 0.2
publishRootCa: true
authorities:
  client: {certificate: ${here('ca.crt')}, key: ${here('ca.key')}}
  apiserver-serving: {certificate: ${here('ca.crt')}, key: ${here('ca.key')}}
apiServers:
  - {name: cp-1, address: '${address}'}
hooks:
  present: ${hook('present')}
  clientTrust: wait
  probe: ${hook('probe')}
sinks:
${kubeconfigs.join('\n')}
  - {name: root-ca-file, file: ${here('root-ca.crt')}, restart: ${hook('restart')}}
  - {name: join-data, secret: kube-system/join-data, seed: true}
  - {name: monitoring, configMap: default/monitoring-ca}
  - {name: everybody, clusterTrustBundle: example.com}
  - {name: of-a-signer, clusterTrustBundle: 'example.com:serving:main', signerName: example.com/serving}
`
}

const issuers = (pem: string) => [
  ...new Set(parseCertificatesPem(pem).map(({ issuer }) => formatName(issuer))),
]

function leafOf(user: string): string {
  const { clientCertificate } = selectContext(parseKubeconfig(text(`${user}.kubeconfig`), user)).user
  const pem = clientCertificate && 'data' in clientCertificate ? clientCertificate.data.reveal() : ''
  return issuers(pem)[0] ?? ''
}

async function rootCa(): Promise<string> {
  const target = { namespace: 'default', name: 'kube-root-ca.crt' }
  const { data } = await ask(client => client.get<ConfigMap>(resources.configMaps, target))
  return data?.['ca.crt'] ?? ''
}

/** What every place says that somebody takes trust from, one after the other. */
async function everyPlace(): Promise<string> {
  type Bundle = KubeObject & { spec: { trustBundle: string } }
  const bundles = ['example.com', 'example.com:serving:main']
  const found = await ask(client =>
    Promise.all([
      client
        .get<ConfigMap>(resources.configMaps, { namespace: 'default', name: 'monitoring-ca' })
        .then(({ data }) => data?.['ca.crt']),
      rootCa(),
      client
        .get<Secret>(resources.secrets, { namespace: 'kube-system', name: 'join-data' })
        .then(({ data }) => Buffer.from(data?.['ca.crt'] ?? '', 'base64').toString()),
      ...bundles.map(name =>
        client.get<Bundle>(resources.clusterTrustBundles, { name }).then(({ spec }) => spec.trustBundle),
      ),
    ]),
  )
  const authorities = ['anna', 'ben', 'rollcall'].map(user => {
    const { certificateAuthority } = selectContext(parseKubeconfig(text(`${user}.kubeconfig`), user)).cluster
    return certificateAuthority && 'data' in certificateAuthority ? certificateAuthority.data.reveal() : ''
  })
  return [...found, ...authorities, text('root-ca.crt')].join('')
}
