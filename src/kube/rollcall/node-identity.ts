import { sameJson } from '../json.ts'
import type { KubeObject } from '../types.ts'
import { clusterKind, type RollcallKind } from './kind.ts'

export const identityStates = ['Pending', 'Approved', 'Revoked'] as const
export type IdentityState = (typeof identityStates)[number]

export const machineKeyTypes = ['TPM', 'PublicKey'] as const

/** By which key the machine of a node is known. */
export interface IdentityKey {
  type: (typeof machineKeyTypes)[number]
  /** SHA-256 of the SubjectPublicKeyInfo, of a TPM's endorsement key, in lower-case hexadecimal. */
  sha256: string
  /** An operator's word that a `PublicKey` cannot leave its hardware; a TPM's never can. */
  hardware?: boolean
}

/** A question that was asked of a machine, answered once and within a minute. */
export interface AskedChallenge {
  id: string
  /** Base64. */
  nonce: string
  /** SHA-256 of the key that the certificate is to be for. */
  spki: string
  /** For a TPM: the name of its attestation key, and SHA-256 of the secret that it is to give back. */
  attestationKey?: string
  secretHash?: string
  /** RFC 3339. */
  expires: string
}

/** A token that was minted for one certificate of this node and this key. */
export interface MintedToken {
  /** Its JTI. */
  id: string
  /** SHA-256 of the key that was attested. */
  spki: string
  /** RFC 3339. */
  expires: string
  /** The CertificateSigningRequest that was approved for it. */
  request?: { name: string; uid: string }
}

/** The machine of the node of this name. */
export interface NodeIdentityObject extends KubeObject {
  spec: { state: IdentityState; key: IdentityKey }
  status?: {
    /** RFC 3339. */
    firstSeen?: string
    /** The address that the first claim came from. */
    firstAddress?: string
    /** When the machine last proved that it holds the key. */
    lastProven?: string
    challenges?: AskedChallenge[]
    tokens?: MintedToken[]
  }
}

export const nodeIdentities = clusterKind('nodeidentities', 'NodeIdentity')

/** The one ServiceAccount whose tokens a proven machine gets. */
export const attestationAccount = { namespace: 'kube-system', name: 'rollcall-attest' } as const

/** Keys of kube-public/cluster-info: where machines prove themselves when it is not at the API server, and its CA (PEM). */
export const attestationEndpoint = { address: 'rollcall-attest', authority: 'rollcall-attest-ca' } as const

const hash = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const

export const nodeIdentity: RollcallKind = {
  ref: nodeIdentities,
  singular: 'nodeidentity',
  shortNames: ['nid'],
  description:
    'The key by which the machine of a node is known. Whoever approves it lets that machine join under this name.',
  spec: {
    type: 'object',
    required: ['state', 'key'],
    properties: {
      state: {
        type: 'string',
        enum: identityStates,
        description: 'Pending: it asked, and a person has to decide. Revoked: it joins no more.',
      },
      key: {
        type: 'object',
        required: ['type', 'sha256'],
        description: 'Never changed; delete the identity to let another machine have the name.',
        properties: {
          type: { type: 'string', enum: machineKeyTypes },
          sha256: { ...hash, description: "SHA-256 of the SPKI; of a TPM's endorsement key." },
          hardware: { type: 'boolean', description: 'The key cannot leave its hardware.' },
        },
        'x-kubernetes-validations': [
          { rule: 'self == oldSelf', message: 'the key of an identity is immutable' },
        ],
      },
    },
    'x-kubernetes-validations': [
      {
        rule: "oldSelf.state != 'Revoked' || self.state == 'Revoked'",
        message: 'a revoked identity stays revoked; delete it',
      },
    ],
  },
  status: {
    type: 'object',
    properties: {
      firstSeen: { type: 'string', format: 'date-time' },
      firstAddress: { type: 'string', maxLength: 64 },
      lastProven: { type: 'string', format: 'date-time' },
      challenges: {
        type: 'array',
        maxItems: 8,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['id'],
        items: {
          type: 'object',
          required: ['id', 'nonce', 'spki', 'expires'],
          properties: {
            id: { type: 'string' },
            nonce: { type: 'string', format: 'byte' },
            spki: hash,
            attestationKey: { type: 'string' },
            secretHash: hash,
            expires: { type: 'string', format: 'date-time' },
          },
        },
      },
      tokens: {
        type: 'array',
        maxItems: 32,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['id'],
        items: {
          type: 'object',
          required: ['id', 'spki', 'expires'],
          properties: {
            id: { type: 'string' },
            spki: hash,
            expires: { type: 'string', format: 'date-time' },
            request: {
              type: 'object',
              required: ['name', 'uid'],
              properties: { name: { type: 'string' }, uid: { type: 'string' } },
            },
          },
        },
      },
    },
  },
  columns: [
    { name: 'State', type: 'string', jsonPath: '.spec.state', description: 'Pending, Approved or Revoked.' },
    { name: 'Type', type: 'string', jsonPath: '.spec.key.type', description: 'TPM or PublicKey.' },
    { name: 'Key', type: 'string', jsonPath: '.spec.key.sha256', description: 'SHA-256 of its key.' },
    { name: 'Proven', type: 'date', jsonPath: '.status.lastProven', description: 'Its last proof.' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Its first claim.' },
  ],
  complaints(object, previous) {
    const [now, before] = [specOf(object), specOf(previous)]
    if (!now || !before) return []
    const complaints: string[] = []
    if (!sameJson(now.key, before.key))
      complaints.push('spec.key: Invalid value: the key of an identity is immutable')
    if (before.state === 'Revoked' && now.state !== 'Revoked')
      complaints.push('spec.state: Invalid value: a revoked identity stays revoked; delete it')
    return complaints
  },
}

function specOf(object: unknown): NodeIdentityObject['spec'] | undefined {
  return (object as NodeIdentityObject | undefined)?.spec
}
