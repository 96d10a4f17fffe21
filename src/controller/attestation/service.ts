/** Asks machines to prove which one they are, and gives those that do and are approved a token for one certificate. */
import { isNodeName } from '../../approve/canonical-name.ts'
import { RollcallError } from '../../errors.ts'
import type {
  BeginRequest,
  Challenge,
  FinishAnswer,
  FinishRequest,
  RefusalCode,
} from '../../keys/attestation/messages.ts'
import { makeCredential } from '../../keys/tpm/make-credential.ts'
import { nameOfKey, parsePublicArea } from '../../keys/tpm/public-area.ts'
import { isStatus, type KubeClient, listAll } from '../../kube/client.ts'
import {
  attestationAccount,
  type IdentityKey,
  type NodeIdentityObject,
  nodeIdentities,
} from '../../kube/rollcall/node-identity.ts'
import { formatTime } from '../../kube/time-format.ts'
import { type KubeObject, type Namespace, resources } from '../../kube/types.ts'
import type { Clock, Log, Random } from '../../ports.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { parsePublicKey } from '../../x509/public-key.ts'
import { answered, withChallenge } from './challenges.ts'
import { attestationKeyName, identityKeyOf, isProven } from './verify-proof.ts'

export interface AttestationOptions {
  /** May create NodeIdentities, update their status, and create tokens of the one ServiceAccount. */
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  /** False: only machines that are registered are asked; absent: others wait for a person. */
  firstUse?: boolean
}

export interface AttestationService {
  /** `address`: where it comes from, for the record. Both reject with ATTESTATION_REFUSED, or as the client does. */
  begin(request: BeginRequest, address: string): Promise<Challenge>
  finish(request: FinishRequest): Promise<FinishAnswer>
}

/** Seconds: the shortest that Kubernetes gives. */
const tokenSeconds = 600
const mostTokens = 32
const mostConflicts = 5
/** Identities that wait for a person: more come from somebody who disturbs. */
const mostPending = 200

type TokenRequest = KubeObject & {
  spec: { audiences?: string[]; expirationSeconds: number }
  status?: { token: string; expirationTimestamp: string }
}

export function createAttestation({
  client,
  clock,
  random,
  log,
  firstUse = true,
}: AttestationOptions): AttestationService {
  let cluster: Promise<string> | undefined
  /** UID of kube-system. */
  async function clusterUid(): Promise<string> {
    cluster ??= client
      .get<Namespace>(resources.namespaces, { name: 'kube-system' })
      .then(({ metadata }) => metadata.uid ?? '')
    return cluster.catch(error => {
      cluster = undefined
      throw error
    })
  }

  async function identityOf(name: string): Promise<NodeIdentityObject | undefined> {
    return client.get<NodeIdentityObject>(nodeIdentities, { name }).catch(error => {
      if (isStatus(error, 'NotFound')) return undefined
      throw error
    })
  }

  /** First use: written down, to be approved by a person. */
  async function claim(name: string, key: IdentityKey, address: string): Promise<NodeIdentityObject> {
    if (!firstUse) throw refusal('OTHER_KEY', `no machine is registered as node "${name}".`)
    const { items } = await listAll<NodeIdentityObject>(client, nodeIdentities)
    if (items.filter(({ spec }) => spec.state === 'Pending').length >= mostPending)
      throw refusal('BUSY', 'too many machines wait for approval; see `rollcall identity ls`.')
    const { apiVersion, kind } = header
    const metadata = { name }
    const status = { firstSeen: formatTime(clock.now()), firstAddress: address }
    const created = await client
      .create<NodeIdentityObject>(nodeIdentities, {
        apiVersion,
        kind,
        metadata,
        spec: { state: 'Pending', key },
      })
      .catch(error => {
        if (isStatus(error, 'AlreadyExists')) return undefined
        throw error
      })
    if (!created) throw refusal('BUSY', 'somebody else claims the same name just now.')
    log.info('a machine asks to be let in for the first time', { node: name, key: key.sha256, address })
    return { ...created, status }
  }

  /** Changes the status by what is there now, and tries again when others write; `change` may refuse. */
  async function change<T>(
    identity: NodeIdentityObject,
    by: (now: NodeIdentityObject) => { status: NonNullable<NodeIdentityObject['status']>; result: T },
  ): Promise<{ identity: NodeIdentityObject; result: T }> {
    let current = identity
    for (let conflicts = 0; ; conflicts++) {
      const { status, result } = by(current)
      try {
        const written = await client.update(nodeIdentities, { ...current, status }, { subresource: 'status' })
        return { identity: written, result }
      } catch (error) {
        if (!isStatus(error, 'Conflict') || conflicts >= mostConflicts) throw error
        const read = await identityOf(current.metadata.name)
        if (!read) throw refusal('NOT_PROVEN', 'the identity was deleted meanwhile.')
        current = read
      }
    }
  }

  async function mint(identity: NodeIdentityObject, spki: Uint8Array): Promise<FinishAnswer> {
    const request: TokenRequest = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { ...attestationAccount },
      spec: { expirationSeconds: tokenSeconds },
    }
    const { status: minted } = await client.create(resources.serviceAccounts, request, {
      subresource: 'token',
    })
    const { token = '', expirationTimestamp = '' } = minted ?? {}
    const id = tokenId(token)
    // Before anybody holds it: what is not written here is good for nothing.
    await change(identity, ({ spec, status }) => {
      requireState(spec.state, identity.metadata.name)
      const now = clock.now()
      const kept = (status?.tokens ?? []).filter(({ expires }) => Date.parse(expires) > now)
      const entry = { id, spki: sha256Hex(spki), expires: expirationTimestamp }
      return { status: { ...status, tokens: [...kept.slice(1 - mostTokens), entry] }, result: undefined }
    })
    log.info('a machine has proven itself and got a token', { node: identity.metadata.name, token: id })
    return { token, expirationTimestamp }
  }

  return {
    async begin({ nodeName, machine, spki }, address) {
      const key = wellFormed(() => {
        parsePublicKey(spki)
        return identityKeyOf(machine)
      })
      if (!key || !isNodeName(nodeName))
        throw refusal('MALFORMED', 'the name is no node name, or the keys are not those of a TPM.')
      const known = await identityOf(nodeName)
      if (known) requireKey(known, key)
      const identity = known ?? (await claim(nodeName, key, address))
      const [nonce, secret] = [random.bytes(32), random.bytes(32)]
      const asked = {
        id: Buffer.from(random.bytes(16)).toString('hex'),
        nonce: Buffer.from(nonce).toString('base64'),
        spki: sha256Hex(spki),
        ...(machine.type === 'TPM' && {
          attestationKey: attestationKeyName(machine.attestationKey),
          secretHash: sha256Hex(secret),
        }),
      }
      const uid = await clusterUid()
      await change(identity, ({ status }) => ({
        status: withChallenge({ ...identity.status, ...status }, asked, clock.now()),
        result: undefined,
      }))
      const challenge = { id: asked.id, nonce, clusterUid: uid }
      if (machine.type !== 'TPM') return challenge
      const bytes = (length: number) => random.bytes(length)
      const name = nameOfKey(machine.attestationKey)
      return {
        ...challenge,
        credential: makeCredential(parsePublicArea(machine.endorsementKey), name, secret, bytes),
      }
    },

    async finish(request) {
      const { nodeName, machine, challenge: id, spki } = request
      const key = wellFormed(() => identityKeyOf(machine))
      const identity = isNodeName(nodeName) ? await identityOf(nodeName) : undefined
      if (!identity || !key) throw refusal('NOT_PROVEN', 'there is no such challenge.')
      requireKey(identity, key)
      // Taken away before it is looked at: one challenge is one try, at whichever replica.
      const taken = await change(identity, ({ status }) => {
        const found = answered(status, id, clock.now())
        if (!found)
          throw refusal(
            'NOT_PROVEN',
            'there is no such challenge: it was answered already, or is a minute old.',
          )
        return { status: found.status, result: found.challenge }
      })
      const uid = await clusterUid()
      if (!wellFormed(() => isProven(taken.result, uid, request))) {
        log.warn('a machine has not proven what it says', { node: nodeName, key: key.sha256 })
        throw refusal(
          'NOT_PROVEN',
          `the proof is not that of the machine of node "${nodeName}" for this key.`,
        )
      }
      const proven = await change(taken.identity, ({ status }) => ({
        status: { ...status, lastProven: formatTime(clock.now()) },
        result: undefined,
      }))
      requireState(proven.identity.spec.state, nodeName)
      return mint(proven.identity, spki)
    },
  }
}

const header = { apiVersion: `${nodeIdentities.group}/${nodeIdentities.version}`, kind: nodeIdentities.kind }

function requireKey({ spec, metadata }: NodeIdentityObject, key: IdentityKey): void {
  if (spec.state === 'Revoked')
    throw refusal('REVOKED', `the identity of node "${metadata.name}" is revoked.`)
  if (spec.key.type !== key.type || spec.key.sha256 !== key.sha256)
    throw refusal(
      'OTHER_KEY',
      `node "${metadata.name}" is another machine's; if that one is gone, delete its NodeIdentity.`,
    )
}

function requireState(state: NodeIdentityObject['spec']['state'], name: string): void {
  if (state === 'Revoked') throw refusal('REVOKED', `the identity of node "${name}" is revoked.`)
  if (state !== 'Approved')
    throw refusal('PENDING', `node "${name}" waits for a person: \`rollcall identity approve ${name}\`.`)
}

/** What cannot be read is refused as such. */
function wellFormed<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RollcallError) throw refusal('MALFORMED', error.message)
    throw error
  }
}

/** The JTI of a token that the API server itself has just given. */
function tokenId(token: string): string {
  const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}')
  const id = typeof claims === 'object' && claims !== null && 'jti' in claims ? claims.jti : undefined
  if (typeof id === 'string' && id !== '') return id
  throw refusal(
    'BUSY',
    'the API server gives tokens without an id (jti); attested joins need Kubernetes 1.30.',
  )
}

function refusal(code: RefusalCode, message: string): RollcallError {
  return new RollcallError('ATTESTATION_REFUSED', message, { code })
}
