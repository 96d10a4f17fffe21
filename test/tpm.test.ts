import assert from 'node:assert/strict'
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import { after, afterEach, before, suite, test } from 'node:test'
import { systemTpm } from '../src/host/tpm.ts'
import { isAbout, parseSignature, verifyAttestation } from '../src/keys/tpm/attest.ts'
import { makeCredential } from '../src/keys/tpm/make-credential.ts'
import {
  attestationKeyTemplate,
  endorsementKeyTemplate,
  isAttestationKey,
  isEndorsementKey,
  isSigningKey,
  nameOfKey,
  parsePublicArea,
  signingKeyTemplate,
  storageKeyTemplate,
} from '../src/keys/tpm/public-area.ts'
import type { MadeKey, Tpm } from '../src/keys/tpm/tpm.ts'
import { TpmError } from '../src/keys/tpm/tpm-error.ts'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/free-port.ts'
import { type SoftwareTpm, startSwtpm, whyNoSwtpm } from './support/swtpm.ts'

suite('the TPM client, on a software TPM', { skip: whyNoSwtpm() }, () => {
  let machine: SoftwareTpm
  let other: SoftwareTpm
  let tpm: Tpm
  before(async () => {
    machine = await startSwtpm()
    other = await startSwtpm()
  })
  after(async () => {
    await machine?.remove()
    await other?.remove()
  })
  const opened: Tpm[] = []
  const open = async (of = machine) => {
    tpm = await of.open()
    opened.push(tpm)
    return tpm
  }
  afterEach(async () => {
    for (const used of opened.splice(0)) {
      assert.deepEqual(await used.loaded(), [], 'keys are left in the TPM')
      used.close()
    }
  })

  const attestationKey = (of: Tpm, work: (key: MadeKey) => Promise<void>) =>
    of.using(of.createPrimary('endorsement', attestationKeyTemplate), work)
  const nonce = randomBytes(32)

  test('random bytes are given, and others each time', async () => {
    await open()
    const [one, two] = [await tpm.getRandom(16), await tpm.getRandom(16)]
    assert.equal(one.length, 16)
    assert.notDeepEqual(one, two)
  })

  test('endorsement and attestation key are the same each time, and those of another machine are others', async () => {
    const publicAreas = async (of: Tpm, template: Uint8Array) =>
      of.using(of.createPrimary('endorsement', template), async key => {
        assert.deepEqual(await of.readPublic(key.handle), { handle: key.handle, publicArea: key.publicArea })
        return Buffer.from(key.publicArea).toString('hex')
      })
    const [one, two] = [await open(), await open(other)]
    for (const template of [endorsementKeyTemplate, attestationKeyTemplate]) {
      const first = await publicAreas(one, template)
      assert.equal(await publicAreas(one, template), first)
      assert.notEqual(await publicAreas(two, template), first)
    }
  })

  test('what the keys may do is read from their public areas', async () => {
    await open()
    const roles = async (template: Uint8Array) =>
      tpm.using(tpm.createPrimary('endorsement', template), async ({ publicArea }) => {
        const area = parsePublicArea(publicArea)
        return [isEndorsementKey(area), isAttestationKey(area), isSigningKey(area)]
      })
    assert.deepEqual(await roles(endorsementKeyTemplate), [true, false, false])
    assert.deepEqual(await roles(attestationKeyTemplate), [false, true, false])
    assert.deepEqual(await roles(signingKeyTemplate), [false, false, true])
    assert.deepEqual(await roles(storageKeyTemplate), [false, false, false])
  })

  test('a key is made under a parent, loaded, signs, and is certified by what the TPM made itself', async () => {
    await open()
    await tpm.using(tpm.createPrimary('owner', storageKeyTemplate), async parent => {
      const wrapped = await tpm.create(parent, signingKeyTemplate)
      await tpm.using(tpm.load(parent, wrapped), async key => {
        const data = Buffer.from('a request')
        const signature = await tpm.sign(key, createHash('sha256').update(data).digest())
        const spki = Buffer.from(parsePublicArea(key.publicArea).spki)
        const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' })
        assert.ok(verify('sha256', data, publicKey, parseSignature(signature)))
        await attestationKey(tpm, async by => {
          const said = await tpm.certify(key, by, nonce)
          const attestation = verifyAttestation(said, by.publicArea, nonce)
          assert.equal(attestation?.type, 'certify')
          assert.ok(attestation && isAbout(attestation, key.publicArea))
          assert.equal(attestation && isAbout(attestation, by.publicArea), false)
          assert.equal(verifyAttestation(said, by.publicArea, randomBytes(32)), undefined)
        })
      })
    })
  })

  test('the creation of a key is certified', async () => {
    await open()
    await tpm.using(tpm.createPrimary('owner', signingKeyTemplate), key =>
      attestationKey(tpm, async by => {
        const attestation = verifyAttestation(await tpm.certifyCreation(key, by, nonce), by.publicArea, nonce)
        assert.equal(attestation?.type, 'creation')
        assert.ok(attestation && isAbout(attestation, key.publicArea))
        const forged = { ...key, creationHash: randomBytes(32) }
        await assert.rejects(tpm.certifyCreation(forged, by, nonce), { code: 'TPM_REFUSED' })
      }),
    )
  })

  test('a quote binds what the verifier gave; another key, another text and a key that signs anything do not', async () => {
    await open()
    await attestationKey(tpm, async by => {
      const said = await tpm.quote(by, nonce)
      assert.equal(verifyAttestation(said, by.publicArea, nonce)?.type, 'quote')
      const changed = {
        ...said,
        attested: Uint8Array.from(said.attested, (byte, at) => (at === 60 ? byte ^ 1 : byte)),
      }
      assert.equal(verifyAttestation(changed, by.publicArea, nonce), undefined)
      await tpm.using(tpm.createPrimary('owner', signingKeyTemplate), async free => {
        assert.equal(verifyAttestation(said, free.publicArea, nonce), undefined)
        const byFree = await tpm.quote(free, nonce)
        assert.equal(verifyAttestation(byFree, free.publicArea, nonce), undefined)
        // What is signed must not be able to look as if the TPM had made it.
        const digest = createHash('sha256').update(said.attested).digest()
        await assert.rejects(tpm.sign(by, digest), { code: 'TPM_REFUSED' })
      })
    })
  })

  test('a credential is activated by the one TPM it was made for, with the one key it names', async () => {
    await open()
    const secret = randomBytes(32)
    await tpm.using(tpm.createPrimary('endorsement', endorsementKeyTemplate), endorsementKey =>
      attestationKey(tpm, async key => {
        const area = parsePublicArea(endorsementKey.publicArea)
        const made = makeCredential(area, nameOfKey(key.publicArea), secret, randomBytes)
        assert.deepEqual(Buffer.from(await tpm.activateCredential(key, endorsementKey, made)), secret)

        const forOtherKey = makeCredential(area, nameOfKey(signingKeyTemplate), secret, randomBytes)
        await assert.rejects(
          tpm.activateCredential(key, endorsementKey, forOtherKey),
          (error: unknown) => error instanceof TpmError && error.responseCode !== 0,
        )
        // Sessions are as few as keys: a failure must not use one up.
        for (let times = 0; times < 10; times++)
          await assert.rejects(tpm.activateCredential(key, endorsementKey, forOtherKey), {
            code: 'TPM_REFUSED',
          })

        const second = await open(other)
        await second.using(second.createPrimary('endorsement', endorsementKeyTemplate), theirs =>
          attestationKey(second, async theirKey => {
            await assert.rejects(second.activateCredential(theirKey, theirs, made), { code: 'TPM_REFUSED' })
          }),
        )
      }),
    )
  })

  test('commands that are sent at once are answered each with its own', async () => {
    await open()
    const lengths = [1, 5, 9, 17, 32]
    const answers = await Promise.all(lengths.map(length => tpm.getRandom(length)))
    assert.deepEqual(
      answers.map(({ length }) => length),
      lengths,
    )
  })

  test('a TPM is reached over TCP too', async () => {
    const remote = await startSwtpm(await freePort())
    try {
      const tpm = await eventually('it listens', () => remote.open().catch(() => undefined))
      assert.equal((await tpm.getRandom(32)).length, 32)
      tpm.close()
    } finally {
      await remote.remove()
    }
  })

  test('a TPM whose endorsement hierarchy has a password says so', async () => {
    const channel = await systemTpm(other.place)
    // TPM2_HierarchyChangeAuth of the endorsement hierarchy, from the empty password to "owned".
    const change = '80020000002200000129' + '4000000b' + '00000009400000090000000000' + '00056f776e6564'
    assert.equal(Buffer.from(await channel.exchange(Buffer.from(change, 'hex'))).readUInt32BE(6), 0)
    channel.close()
    await open(other)
    await assert.rejects(tpm.createPrimary('endorsement', attestationKeyTemplate), {
      code: 'TPM_REFUSED',
      message: /createPrimary .* hierarchy has a password/,
    })
  })

  test('a TPM that is gone, a handle that is none and a template that is none are told apart', async () => {
    await open()
    await assert.rejects(tpm.readPublic(0x8000_00ff), { code: 'TPM_REFUSED' })
    await assert.rejects(tpm.createPrimary('owner', randomBytes(20)), { code: 'TPM_REFUSED' })
    const gone = opened.pop()
    await machine.unplug()
    await assert.rejects(gone?.getRandom(8) ?? Promise.resolve(), { code: 'TPM_ABSENT' })
    gone?.close()
    await assert.rejects(machine.open())
    await machine.plug()
    assert.equal((await (await open()).getRandom(8)).length, 8)
  })
})
