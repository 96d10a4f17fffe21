import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { systemClock } from '../src/host/clock.ts'
import { systemTpm } from '../src/host/tpm.ts'
import { type Attestor, tpmAttestor } from '../src/keys/attestation/attestor.ts'
import { type BeginRequest, type MachineKey, qualifyingData } from '../src/keys/attestation/messages.ts'
import type { PrivateKeySigner } from '../src/keys/private-key.ts'
import type { SignedAttestation } from '../src/keys/tpm/attest.ts'
import {
  attestationKeyTemplate,
  endorsementKeyTemplate,
  signingKeyTemplate,
} from '../src/keys/tpm/public-area.ts'
import type { MadeKey, Tpm } from '../src/keys/tpm/tpm.ts'
import { type KubeObject, resources, type SubjectAccessReview } from '../src/kube/types.ts'
import { type AttestedCluster, attestedCluster, newKey } from '../src/testing/attested-cluster.ts'
import { onCluster } from '../src/testing/controlled-cluster.ts'
import { type SoftwareTpm, startSwtpm, whyNoSwtpm } from './support/swtpm.ts'

const notProven = { code: 'ATTESTATION_REFUSED', details: { code: 'NOT_PROVEN' } }

/** The keys of an opened TPM. */
interface Opened {
  tpm: Tpm
  endorsementKey: MadeKey
  attestationKey: MadeKey
  machine: MachineKey & { type: 'TPM' }
}

async function withKeys<T>(machine: SoftwareTpm, work: (opened: Opened) => Promise<T>): Promise<T> {
  const tpm = await machine.open()
  try {
    return await tpm.using(tpm.createPrimary('endorsement', endorsementKeyTemplate), endorsementKey =>
      tpm.using(tpm.createPrimary('endorsement', attestationKeyTemplate), attestationKey => {
        const publicAreas = {
          endorsementKey: endorsementKey.publicArea,
          attestationKey: attestationKey.publicArea,
        }
        return work({ tpm, endorsementKey, attestationKey, machine: { type: 'TPM', ...publicAreas } })
      }),
    )
  } finally {
    tpm.close()
  }
}

suite('attacks on the join by a TPM', { skip: whyNoSwtpm() }, () => {
  let victim: SoftwareTpm
  let thief: SoftwareTpm
  before(async () => {
    ;[victim, thief] = [await startSwtpm(), await startSwtpm()]
  })
  after(async () => {
    await victim?.remove()
    await thief?.remove()
  })

  const attestorOf = ({ place }: SoftwareTpm): Attestor => tpmAttestor(place, systemTpm, systemClock)

  /** The victim's machine is approved as n1, the thief's own as n2. */
  const attacking = (run: (cluster: AttestedCluster) => Promise<void>) =>
    onCluster(async plain => {
      const cluster = await attestedCluster(plain)
      for (const [machine, name] of [
        [victim, 'n1'],
        [thief, 'n2'],
      ] as const) {
        await cluster.attest(attestorOf(machine), name)
        await cluster.decideIdentity(name, 'Approved')
      }
      await run(cluster)
    })

  /** The honest machine's proof for its own key, as somebody in between sees it. */
  async function proofOf(cluster: AttestedCluster, key: PrivateKeySigner) {
    return withKeys(victim, async ({ tpm, endorsementKey, attestationKey, machine }) => {
      const begin: BeginRequest = { nodeName: 'n1', machine, spki: key.publicKey }
      const challenge = await cluster.service.begin(begin, '10.0.0.66')
      assert.ok(challenge.credential)
      const secret = await tpm.activateCredential(attestationKey, endorsementKey, challenge.credential)
      const said = await tpm.quote(attestationKey, qualifyingData(challenge, begin))
      return { ...begin, challenge: challenge.id, proof: { type: 'TPM' as const, secret, ...said } }
    })
  }

  test(
    'another machine cannot prove that it is the first, though it knows all that is public of its TPM',
    attacking(async cluster => {
      assert.match((await cluster.attest(attestorOf(thief), 'n1')).why, /another machine's/)
      const known = await withKeys(victim, async ({ machine }) => machine)
      await withKeys(thief, async ({ tpm, endorsementKey, attestationKey, machine }) => {
        // With the victim's keys, and with a key of its own beside the victim's endorsement key.
        for (const claimed of [known, { ...known, attestationKey: machine.attestationKey }]) {
          const begin: BeginRequest = { nodeName: 'n1', machine: claimed, spki: newKey().publicKey }
          const challenge = await cluster.service.begin(begin, '10.0.0.66')
          assert.ok(challenge.credential)
          await assert.rejects(tpm.activateCredential(attestationKey, endorsementKey, challenge.credential), {
            code: 'TPM_REFUSED',
          })
          const said = await tpm.quote(attestationKey, qualifyingData(challenge, begin))
          const guess = { type: 'TPM' as const, secret: randomBytes(32), ...said }
          await assert.rejects(
            cluster.service.finish({ ...begin, challenge: challenge.id, proof: guess }),
            notProven,
          )
        }
      })
    }),
  )

  test(
    'a proof that is relayed is good for nobody else: not for another key, name or machine, and not twice',
    attacking(async cluster => {
      const own = newKey()
      const others = await withKeys(thief, async ({ machine }) => machine)
      for (const change of [{ spki: own.publicKey }, { nodeName: 'n2' }, { machine: others }])
        await assert.rejects(cluster.service.finish({ ...(await proofOf(cluster, newKey())), ...change }), {
          code: 'ATTESTATION_REFUSED',
        })
      const good = await proofOf(cluster, newKey())
      await cluster.service.finish(good)
      await assert.rejects(cluster.service.finish(good), notProven)
      const { challenge } = await proofOf(cluster, newKey())
      // Of an earlier nonce under a new challenge.
      await assert.rejects(cluster.service.finish({ ...good, challenge }), notProven)
    }),
  )

  test(
    'the token of a relayed proof leads to no certificate but the one for the key of the machine, once',
    attacking(async cluster => {
      const key = newKey()
      const { by } = await cluster.attest(attestorOf(victim), 'n1', key)
      assert.ok(by)
      assert.equal((await cluster.request(by, 'n1', newKey())).fate, 'Denied AttestedOtherKey')
      assert.equal((await cluster.request(by, 'n2', key)).fate, 'Denied AttestationUnknown')
      assert.equal((await cluster.request(by, 'n1', key)).fate, 'Approved MachineAttested, issued')
      assert.equal((await cluster.request(by, 'n1', key)).fate, 'Denied AttestationUsed')
    }),
  )

  test(
    "with kubeadm's bindings nothing of Kubernetes approves for the account, and it can do nothing else",
    attacking(async cluster => {
      const key = newKey()
      const { by } = await cluster.attest(attestorOf(victim), 'n1', key)
      assert.ok(by)
      const user = 'system:serviceaccount:kube-system:rollcall-attest'
      const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated']
      for (const subresource of ['nodeclient', 'selfnodeclient']) {
        const attributes = {
          verb: 'create',
          group: 'certificates.k8s.io',
          resource: 'certificatesigningrequests',
        }
        const review: SubjectAccessReview = {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          metadata: { name: '' },
          spec: { user, groups, resourceAttributes: { ...attributes, version: '*', subresource } },
        }
        const { status } = await cluster.admin.create(resources.subjectAccessReviews, review)
        assert.notEqual(status?.allowed, true)
      }
      for (const reading of [resources.nodes, resources.secrets, resources.serviceAccounts])
        await assert.rejects(by.list(reading, {}), /forbidden/)
      const masters: KubeObject = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: { name: 'rollcall-attest', namespace: 'kube-system' },
      }
      await assert.rejects(
        by.create(resources.serviceAccounts, masters, { subresource: 'token' }),
        /forbidden/,
      )
    }),
  )

  test(
    'only a quote by a key that signs nothing else counts',
    attacking(async cluster => {
      await withKeys(victim, async ({ tpm, endorsementKey, attestationKey, machine }) => {
        /** A proof by whatever the key says over the right data. */
        const finish = async (
          by: MadeKey,
          say: (qualifying: Uint8Array) => Promise<SignedAttestation>,
        ): Promise<unknown> => {
          const claimed = { ...machine, attestationKey: by.publicArea }
          const begin: BeginRequest = { nodeName: 'n1', machine: claimed, spki: newKey().publicKey }
          const challenge = await cluster.service.begin(begin, '10.0.0.66')
          assert.ok(challenge.credential)
          const secret = await tpm.activateCredential(by, endorsementKey, challenge.credential)
          const said = await say(qualifyingData(challenge, begin))
          const proof = { type: 'TPM' as const, secret, ...said }
          return cluster.service.finish({ ...begin, challenge: challenge.id, proof })
        }
        await finish(attestationKey, data => tpm.quote(attestationKey, data))
        await assert.rejects(
          finish(attestationKey, data => tpm.certify(attestationKey, attestationKey, data)),
          notProven,
        )
        await assert.rejects(
          finish(attestationKey, data => tpm.certifyCreation(attestationKey, attestationKey, data)),
          notProven,
        )
      })
      await withKeys(victim, async ({ tpm, machine }) =>
        tpm.using(tpm.createPrimary('owner', signingKeyTemplate), async ({ publicArea }) => {
          const claimed = { ...machine, attestationKey: publicArea }
          await assert.rejects(
            cluster.service.begin(
              { nodeName: 'n1', machine: claimed, spki: newKey().publicKey },
              '10.0.0.66',
            ),
            { code: 'ATTESTATION_REFUSED', details: { code: 'MALFORMED' } },
          )
        }),
      )
    }),
  )
})
