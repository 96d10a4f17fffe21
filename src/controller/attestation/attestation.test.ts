import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyAttestor } from '../../keys/attestation/attestor.ts'
import { encodeFinish } from '../../keys/attestation/encoding.ts'
import { attestationPaths, qualifyingData, signedText } from '../../keys/attestation/messages.ts'
import type { PrivateKeySigner } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import { createClient } from '../../kube/client.ts'
import { nodeIdentities } from '../../kube/rollcall/node-identity.ts'
import { resources } from '../../kube/types.ts'
import { silentLog } from '../../ports.ts'
import { type AttestedCluster, attestedCluster, newKey } from '../../testing/attested-cluster.ts'
import { calm, nodeStatusPolicy, onCluster } from '../../testing/controlled-cluster.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { attestationHandler } from './handler.ts'
import type { AttestationResult } from './metrics.ts'

/** A machine with a registered key. */
const machineWith = (signer: PrivateKeySigner) =>
  keyAttestor('a key', async () => ({ signer, async check() {}, close() {} }))

const attesting = (run: (cluster: AttestedCluster) => Promise<void>) =>
  onCluster(async cluster => run(await attestedCluster(cluster)))

/** A machine that is approved as node n1. */
async function approved(cluster: AttestedCluster, name = 'n1') {
  const own = newKey()
  const machine = machineWith(own)
  await cluster.attest(machine, name)
  await cluster.decideIdentity(name, 'Approved')
  return { own, machine }
}

async function admitted(cluster: AttestedCluster, key = newKey()) {
  const { machine } = await approved(cluster)
  const { by } = await cluster.attest(machine, 'n1', key)
  return { machine, key, by: by ?? assert.fail('not attested') }
}

test(
  'a machine that asks for the first time waits for a person, and is let in by the key that was seen then',
  attesting(async cluster => {
    const machine = machineWith(newKey())
    assert.match((await cluster.attest(machine, 'n1')).why, /^Waiting: .*rollcall identity approve n1/)
    const { spec, status } = await cluster.identity('n1')
    assert.equal(spec.state, 'Pending')
    assert.equal(status?.firstAddress, '10.0.0.11')
    assert.ok(status?.lastProven)
    assert.match(
      (await cluster.attest(machineWith(newKey()), 'n1')).why,
      /^NoCredential: .*another machine's/,
    )
    await cluster.decideIdentity('n1', 'Approved')
    const key = newKey()
    const { by } = await cluster.attest(machine, 'n1', key)
    const { fate, name } = await cluster.request(by ?? assert.fail(), 'n1', key)
    assert.equal(fate, 'Approved MachineAttested, issued')
    assert.match(
      (await cluster.read(name)).status?.conditions?.[0]?.message ?? '',
      /evidence: registered key/,
    )
  }),
)

test(
  'a token is good for no other name, no other key, no second certificate and no serving certificate',
  attesting(async cluster => {
    const { by, key } = await admitted(cluster)
    await approved(cluster, 'n2')
    assert.equal((await cluster.request(by, 'n2', key)).fate, 'Denied AttestationUnknown')
    assert.equal((await cluster.request(by, 'n3', key)).fate, 'Denied AttestationUnknown')
    assert.equal((await cluster.request(by, 'n1', newKey())).fate, 'Denied AttestedOtherKey')
    const serving = await cluster.ask({ by, node: 'n1', ips: ['10.0.0.11'] })
    assert.equal(await cluster.fate(serving), 'Denied RequesterNotNode')
    assert.equal((await cluster.request(by, 'n1', key)).fate, 'Approved MachineAttested, issued')
    assert.equal((await cluster.request(by, 'n1', key)).fate, 'Denied AttestationUsed')
  }),
)

test(
  'a token that nobody minted here is good for nothing, nor is that of a revoked identity',
  attesting(async cluster => {
    const { by, key } = await admitted(cluster)
    const metadata = { namespace: 'kube-system', name: 'rollcall-attest' }
    const other = await cluster.admin.create(
      resources.serviceAccounts,
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata,
        spec: { expirationSeconds: 600 },
      } as never,
      { subresource: 'token' },
    )
    const { token } = (other as unknown as { status: { token: string } }).status
    const foreign = createClient(cluster.connect({ server: '', bearerToken: new Secret(token) }))
    assert.equal((await cluster.request(foreign, 'n1', key)).fate, 'Denied AttestationUnknown')
    await cluster.decideIdentity('n1', 'Revoked')
    assert.equal((await cluster.request(by, 'n1', key)).fate, 'Denied IdentityRevoked')
    await assert.rejects(cluster.decideIdentity('n1', 'Approved'), /revoked/)
  }),
)

test(
  'a request that is gone without a certificate does not strand the node: the same token asks again',
  onCluster(async plain => {
    // Nobody signs yet.
    const cluster = await attestedCluster(plain, { only: ['approval'] })
    const { by, key } = await admitted(cluster)
    const first = await cluster.request(by, 'n1', key)
    assert.equal(first.fate, 'Approved MachineAttested')
    const second = await cluster.request(by, 'n1', key)
    assert.equal(second.fate, 'pending')
    await cluster.admin.delete(resources.certificateSigningRequests, { name: first.name })
    await cluster.clock.advance(60_000)
    await calm()
    assert.equal(await cluster.fate(second.name), 'Approved MachineAttested')
  }),
)

test(
  'a lost answer does not strand the node: it attests again with the same key and gets another certificate',
  attesting(async cluster => {
    const { machine, key, by } = await admitted(cluster)
    assert.equal((await cluster.request(by, 'n1', key)).fate, 'Approved MachineAttested, issued')
    const again = await cluster.attest(machine, 'n1', key)
    assert.equal(
      (await cluster.request(again.by ?? assert.fail(), 'n1', key)).fate,
      'Approved MachineAttested, issued',
    )
  }),
)

/** The parts of a proof in the hands of somebody who holds the machine's key. */
async function proofOf(cluster: AttestedCluster, own: PrivateKeySigner) {
  const key = newKey()
  const begin = {
    nodeName: 'n1',
    machine: { type: 'PublicKey' as const, publicKey: own.publicKey },
    spki: key.publicKey,
  }
  const challenge = await cluster.service.begin(begin, '10.0.0.11')
  const signature = await own.sign(signedText(qualifyingData(challenge, begin)))
  return { ...begin, challenge: challenge.id, proof: { type: 'PublicKey' as const, signature } }
}

const notProven = { code: 'ATTESTATION_REFUSED', details: { code: 'NOT_PROVEN' } }

test(
  'a proof is taken once, within a minute, for the name, key and machine it was asked for, and also by another replica',
  attesting(async cluster => {
    const { own } = await approved(cluster)
    const good = await proofOf(cluster, own)
    await cluster.replica().finish(good)
    await assert.rejects(cluster.service.finish(good), notProven)

    const late = await proofOf(cluster, own)
    await cluster.clock.advance(60_000)
    await assert.rejects(cluster.service.finish(late), notProven)

    for (const change of [
      { spki: newKey().publicKey },
      { challenge: '0'.repeat(32) },
      { proof: { type: 'PublicKey' as const, signature: await own.sign(Buffer.from('other')) } },
    ])
      await assert.rejects(cluster.service.finish({ ...(await proofOf(cluster, own)), ...change }), notProven)

    const spoiled = await proofOf(cluster, own)
    await assert.rejects(cluster.service.finish({ ...spoiled, spki: newKey().publicKey }), notProven)
    // One challenge is one try: it cannot be guessed at.
    await assert.rejects(cluster.service.finish(spoiled), notProven)
  }),
)

test(
  'two replicas that get the same proof at once give one token',
  attesting(async cluster => {
    const { own } = await approved(cluster)
    const proof = await proofOf(cluster, own)
    const both = await Promise.allSettled([cluster.service.finish(proof), cluster.replica().finish(proof)])
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    assert.equal((await cluster.identity('n1')).status?.tokens?.length, 1)
  }),
)

test(
  'the identity of a node keeps its key, and only who may approve requests writes it',
  attesting(async cluster => {
    await approved(cluster)
    const identity = await cluster.identity('n1')
    const key = { ...identity.spec.key, sha256: '0'.repeat(64) }
    await assert.rejects(
      cluster.admin.update(nodeIdentities, { ...identity, spec: { ...identity.spec, key } }),
      /immutable/,
    )
    await cluster.grant('writer', [
      {
        apiGroups: ['rollcall.dev'],
        resources: ['nodeidentities'],
        verbs: ['get', 'update', 'create', 'delete'],
      },
    ])
    const writer = await cluster.as('writer')
    await assert.rejects(writer.update(nodeIdentities, { ...identity }), /not permitted to write/)
    await assert.rejects(writer.delete(nodeIdentities, { name: 'n1' }), /not permitted to write/)
  }),
)

test(
  'over HTTP: what is no message is refused as such, nothing else is told, and one address cannot ask without end',
  attesting(async cluster => {
    const counted: AttestationResult[] = []
    const count = (result: AttestationResult) => counted.push(result)
    const handle = attestationHandler(cluster.service, { clock: cluster.clock, log: silentLog, count })
    const peer = { remoteAddress: '10.0.0.66' }
    const post = async (url: string, body: unknown, method = 'POST') => {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const bytes = new TextEncoder().encode(text)
      const { status } = await handle({ method, url, headers: {}, body: bytes }, peer)
      return status
    }
    assert.equal(await post(attestationPaths.begin, '{'), 400)
    for (const message of [{}, [], null, { nodeName: 'n1', spki: 'AA==', machine: { type: 'TPM' } }])
      assert.equal(await post(attestationPaths.begin, message), 400)
    assert.equal(await post(attestationPaths.begin, {}, 'GET'), 405)
    assert.equal(await post(attestationPaths.finish, 'x'.repeat(20_000)), 413)
    const { own } = await approved(cluster)
    const stale = { ...(await proofOf(cluster, own)), challenge: 'none' }
    assert.equal(await post(attestationPaths.finish, encodeFinish(stale)), 403)
    const statuses = []
    for (let times = 0; times < 610; times++) statuses.push(await post(attestationPaths.begin, {}))
    assert.equal(statuses.at(-1), 429)
    assert.deepEqual(new Set(counted), new Set(['MALFORMED', 'NOT_PROVEN', 'BUSY']))
  }),
)

test(
  'a machine whose key the inventory has for this name waits for nobody; one with another key does',
  onCluster(async plain => {
    const own = newKey()
    const target = { namespace: 'kube-system', name: 'inventory' }
    const write = async (sha256: string) => {
      const nodes = ['n1', 'n2'].map(name => `  ${name}: { attributes: { machine-key: "sha256:${sha256}" } }`)
      const data = { 'nodes.yaml': ['nodes:', ...nodes].join('\n') }
      const inventory = { apiVersion: 'v1', kind: 'ConfigMap', metadata: target, data }
      await plain.admin.create(resources.configMaps, inventory).catch(async () => {
        await plain.admin.patch(resources.configMaps, target, 'merge', { data })
      })
      await calm()
    }
    await write(sha256Hex(own.publicKey))
    const inventory = { configMap: 'kube-system/inventory' }
    const cluster = await attestedCluster(plain, { approvalPolicy: { ...nodeStatusPolicy, inventory } })
    const other = newKey()
    assert.match((await cluster.attest(machineWith(other), 'n2')).why, /^Waiting/)
    await cluster.attest(machineWith(own), 'n1')
    await calm()
    assert.equal((await cluster.attest(machineWith(own), 'n1')).why, 'attested')
    assert.match((await cluster.attest(machineWith(other), 'n2')).why, /^Waiting/)
    await write(sha256Hex(other.publicKey))
    assert.equal((await cluster.attest(machineWith(other), 'n2')).why, 'attested')
  }),
)

test(
  'without first use a machine that nobody registered leaves no trace',
  attesting(async cluster => {
    const { own } = await approved(cluster)
    const strict = cluster.replica(false)
    const begin = {
      machine: { type: 'PublicKey' as const, publicKey: own.publicKey },
      spki: newKey().publicKey,
    }
    await assert.rejects(strict.begin({ ...begin, nodeName: 'n9' }, '10.0.0.66'), /no machine is registered/)
    await assert.rejects(cluster.identity('n9'), /not found/)
    await strict.begin({ ...begin, nodeName: 'n1' }, '10.0.0.11')
  }),
)
