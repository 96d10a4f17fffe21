/** A support bundle: the artifacts in a file, to look at elsewhere. Secrets are not in the artifacts; texts are scrubbed again. */
import { RollcallError } from '../errors.ts'
import { formatTime } from '../kube/time-format.ts'
import { decodePem, encodePem } from '../x509/pem.ts'
import { type GatheredArtifacts, nothingGathered } from './artifacts/artifacts.ts'

export interface DoctorBundle {
  apiVersion: 'rollcall.dev/v1alpha1'
  kind: 'DoctorBundle'
  /** The API's address. */
  subject: string
  /** RFC 3339; checks judge as of then. */
  gatheredAt: string
  artifacts: GatheredArtifacts
}

/** The text of a bundle. `gatheredAt` in milliseconds since the epoch. */
export function encodeBundle(subject: string, artifacts: GatheredArtifacts, gatheredAt: number): string {
  const bundle: DoctorBundle = {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'DoctorBundle',
    subject,
    gatheredAt: formatTime(gatheredAt),
    artifacts,
  }
  return `${JSON.stringify(bundle, withoutSecrets, 1)}\n`
}

/** Throws RollcallError USAGE for a text that is no bundle. */
export function decodeBundle(text: string): DoctorBundle {
  const bundle = parse(text)
  if (bundle?.kind !== 'DoctorBundle' || bundle.apiVersion !== 'rollcall.dev/v1alpha1')
    throw new RollcallError(
      'USAGE',
      'this is no bundle of rollcall doctor collect (kind DoctorBundle, rollcall.dev/v1alpha1)',
    )
  if (Number.isNaN(Date.parse(bundle.gatheredAt)) || typeof bundle.artifacts !== 'object')
    throw new RollcallError('USAGE', 'the bundle does not say when it was gathered, or holds no artifacts')
  // What a bundle of another version does not hold was not asked for.
  const artifacts = { ...nothingGathered('not in the bundle'), ...bundle.artifacts }
  return { ...bundle, artifacts }
}

function parse(text: string): DoctorBundle | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const certificateLabels = ['CERTIFICATE', 'CERTIFICATE REQUEST']

/** A replacer for JSON.stringify: base64 of PEM keeps its certificates only, other texts lose what looks like a secret. */
function withoutSecrets(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (key === 'request' || key === 'certificate') return publicPem(value)
  return scrub(value)
}

function publicPem(base64: string): string {
  const text = Buffer.from(base64, 'base64').toString('latin1')
  if (!text.includes('-----BEGIN ')) return scrub(base64)
  const kept = decodePem(text).filter(({ label }) => certificateLabels.includes(label))
  return Buffer.from(kept.map(({ label, bytes }) => encodePem(label, bytes)).join('')).toString('base64')
}

const secrets = [
  // PEM keys, whole.
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // Bootstrap tokens: ID.SECRET.
  /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g,
  // JSON web tokens: service accounts, OpenID Connect.
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  // What follows an authorization header or a password in a message.
  /\b(bearer|basic|password|token)[ =:]+\S{8,}/gi,
]

/** The text without what looks like a key or token. */
export function scrub(text: string): string {
  return secrets.reduce((scrubbed, pattern) => scrubbed.replace(pattern, '[secret]'), text)
}
