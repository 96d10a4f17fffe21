import { BoundedCache } from './bounded-cache.ts'
import { type Extension, sharedExtension } from './extension.ts'
import { checkOtherExtension } from './extension-structure.ts'
import {
  type BasicConstraints,
  encodeAuthorityKeyIdentifier,
  encodeBasicConstraints,
  encodeExtendedKeyUsage,
  encodeKeyUsage,
  encodeSubjectKeyIdentifier,
  type KeyUsage,
  parseAuthorityKeyIdentifier,
  parseBasicConstraints,
  parseExtendedKeyUsage,
  parseKeyUsage,
  parseSubjectKeyIdentifier,
} from './extension-values.ts'
import { malformed } from './malformed.ts'
import type { Name } from './name.ts'
import { hasUnhandledKinds, type NameConstraints, parseNameConstraints } from './name-constraints.ts'
import { oids } from './oid.ts'
import {
  emptySubjectAltName,
  encodeSubjectAltName,
  hasNames,
  parseSubjectAltName,
  type SubjectAltName,
} from './san.ts'

/** What the extensions of a certificate say. A field is absent where its extension is. */
export interface ExtensionFields {
  subjectAltName: SubjectAltName
  keyUsage?: KeyUsage[]
  /** Dotted identifiers. */
  extendedKeyUsage?: string[]
  basicConstraints?: BasicConstraints
  subjectKeyIdentifier?: Uint8Array
  authorityKeyIdentifier?: Uint8Array
  nameConstraints?: NameConstraints
}

/** Reads the extensions that have a meaning here and checks the structure of the others Go reads. */
export function readExtensionFields(extensions: readonly Extension[]): ExtensionFields {
  const fields: ExtensionFields = { subjectAltName: emptySubjectAltName() }
  for (const extension of extensions) readField(extension, fields)
  return fields
}

function readField({ id, critical, value }: Extension, fields: ExtensionFields): void {
  switch (id) {
    case oids.subjectAltName:
      fields.subjectAltName = parseSubjectAltName(value)
      break
    case oids.keyUsage:
      fields.keyUsage = parseKeyUsage(value)
      break
    case oids.extendedKeyUsage:
      fields.extendedKeyUsage = parseExtendedKeyUsage(value)
      break
    case oids.basicConstraints:
      fields.basicConstraints = parseBasicConstraints(value)
      break
    case oids.subjectKeyIdentifier:
      if (critical) throw malformed('subjectKeyIdentifier', 0, 'marked critical')
      fields.subjectKeyIdentifier = parseSubjectKeyIdentifier(value)
      break
    case oids.authorityKeyIdentifier: {
      if (critical) throw malformed('authorityKeyIdentifier', 0, 'marked critical')
      const keyIdentifier = parseAuthorityKeyIdentifier(value)
      if (keyIdentifier !== undefined) fields.authorityKeyIdentifier = keyIdentifier
      break
    }
    case oids.nameConstraints:
      fields.nameConstraints = parseNameConstraints(value)
      break
    default:
      checkOtherExtension({ id, critical, value })
  }
}

/** Extensions whose meaning `verifyChain` honours; any other that is critical makes a certificate unusable. */
const understood: ReadonlySet<string> = new Set([
  oids.subjectAltName,
  oids.keyUsage,
  oids.extendedKeyUsage,
  oids.basicConstraints,
  oids.certificatePolicies,
  oids.nameConstraints,
])

/** The first critical extension nobody here understands (Go: UnhandledCriticalExtensions), or undefined. */
export function unhandledCriticalExtension(
  certificate: { extensions: readonly Extension[] } & ExtensionFields,
): Extension | undefined {
  return certificate.extensions.find(({ id, critical }) => {
    // RFC 5280 4.2.1.6 and Go: a SAN with no name we can read is not understood, nor constraints on unknown kinds.
    const unreadable =
      (id === oids.subjectAltName && !hasReadableName(certificate.subjectAltName)) ||
      (id === oids.nameConstraints &&
        certificate.nameConstraints &&
        hasUnhandledKinds(certificate.nameConstraints))
    return critical && (!understood.has(id) || unreadable)
  })
}

function hasReadableName(san: SubjectAltName): boolean {
  return hasNames({ ...san, others: [] })
}

/** Content of the extensions of a certificate to be issued (C-36), in the order Go writes them. */
export interface ExtensionContent {
  keyUsage?: readonly KeyUsage[]
  /** Dotted identifiers, already in the order wanted (usages.ts sorts them as Go's enum does). */
  extendedKeyUsage?: readonly string[]
  basicConstraints?: BasicConstraints
  subjectKeyIdentifier?: Uint8Array
  authorityKeyIdentifier?: Uint8Array
  subjectAltName?: Partial<SubjectAltName>
}

/**
 * The extensions in DER. C-36: keyUsage and basicConstraints critical, the rest not; the SAN only where the subject is
 * empty.
 */
export function encodeExtensions(content: ExtensionContent, subject: Name): Extension[] {
  const { keyUsage, extendedKeyUsage, basicConstraints, subjectKeyIdentifier, authorityKeyIdentifier } =
    content
  const extensions: Extension[] = []
  if (keyUsage?.length) extensions.push(keyUsageExtension(keyUsage))
  if (extendedKeyUsage?.length) extensions.push(extendedKeyUsageExtension(extendedKeyUsage))
  if (basicConstraints) extensions.push(basicConstraintsExtension(basicConstraints))
  if (subjectKeyIdentifier) {
    const value = encodeSubjectKeyIdentifier(subjectKeyIdentifier)
    extensions.push({ id: oids.subjectKeyIdentifier, critical: false, value })
  }
  if (authorityKeyIdentifier) extensions.push(authorityKeyIdentifierExtension(authorityKeyIdentifier))
  const san = { ...emptySubjectAltName(), ...content.subjectAltName, others: [] }
  if (hasNames(san)) {
    const value = encodeSubjectAltName(san)
    extensions.push({ id: oids.subjectAltName, critical: subject.rdns.length === 0, value })
  }
  return extensions
}

// What all leaves of a CA have in common is one object, and so encoded once.
const ofUsages = new BoundedCache<Extension>(256)
const ofIdentifiers = new WeakMap<Uint8Array, Extension>()
const endEntity = sharedExtension({
  id: oids.basicConstraints,
  critical: true,
  value: encodeBasicConstraints({ ca: false }),
})

function keyUsageExtension(usages: readonly KeyUsage[]): Extension {
  return ofUsages.getOrCompute(`bits ${usages.join()}`, () =>
    sharedExtension({ id: oids.keyUsage, critical: true, value: encodeKeyUsage(usages) }),
  )
}

function extendedKeyUsageExtension(usages: readonly string[]): Extension {
  return ofUsages.getOrCompute(`extended ${usages.join()}`, () =>
    sharedExtension({ id: oids.extendedKeyUsage, critical: false, value: encodeExtendedKeyUsage(usages) }),
  )
}

function basicConstraintsExtension(constraints: BasicConstraints): Extension {
  if (!constraints.ca) return endEntity
  return { id: oids.basicConstraints, critical: true, value: encodeBasicConstraints(constraints) }
}

function authorityKeyIdentifierExtension(identifier: Uint8Array): Extension {
  const known = ofIdentifiers.get(identifier)
  if (known) return known
  const value = encodeAuthorityKeyIdentifier(identifier)
  const extension = sharedExtension({ id: oids.authorityKeyIdentifier, critical: false, value })
  ofIdentifiers.set(identifier, extension)
  return extension
}
