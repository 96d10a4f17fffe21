import { hasCode } from '../errors.ts'
import { DerReader, tags } from './der.ts'
import { type Extension, readExtension } from './extension.ts'
import {
  parseBasicConstraints,
  parseExtendedKeyUsage,
  parseKeyUsage,
  parseSubjectKeyIdentifier,
} from './extension-values.ts'
import type { NoteOddity } from './oddity.ts'
import { oids } from './oid.ts'

/** Attributes that mean nothing to Kubernetes and are common enough not to be worth a word (PKCS#9). */
const harmless: ReadonlySet<string> = new Set([oids.challengePassword, oids.unstructuredName])

/** Reads the value of an extension; throws X509_MALFORMED. */
type ValueReader = (value: Uint8Array) => unknown

/** Extensions a request may ask for. The SAN is read elsewhere; of all others the signer makes its own (C-36). */
const requestable = new Map<string, ValueReader>([
  [oids.subjectAltName, () => undefined],
  [oids.keyUsage, parseKeyUsage],
  [oids.extendedKeyUsage, parseExtendedKeyUsage],
  [oids.basicConstraints, parseBasicConstraints],
  [oids.subjectKeyIdentifier, parseSubjectKeyIdentifier],
])

/** The extensions asked for in a request's attributes, as Go sees them. Throws where Go does. */
export function readRequestedExtensions(attributes: DerReader, note: NoteOddity): Extension[] {
  const all: Extension[] = []
  let requests = 0
  while (!attributes.atEnd) {
    const { start, end } = attributes.element()
    const attribute = readAttribute(new DerReader(attributes.bytes, 'attribute', start, end), note)
    if (attribute === undefined) continue
    if (attribute.id === oids.extensionRequest) {
      requests++
      all.push(...readExtensionRequest(attribute.values, note))
    } else if (attribute.id === oids.microsoftExtensionRequest) note('microsoft-extension-request')
    else if (!harmless.has(attribute.id)) note('unknown-attribute', attribute.id)
  }
  if (requests > 1) note('two-extension-requests')
  refuseDuplicates(all, attributes)
  for (const extension of all) noteExtension(extension, note)
  return all
}

/** Go ignores an attribute that cannot be read as OID and SET of values. So do we, with a note. */
function readAttribute(reader: DerReader, note: NoteOddity): { id: string; values: DerReader } | undefined {
  try {
    const inside = reader.enter(tags.sequence)
    const id = inside.oid()
    const values = inside.enter(tags.set)
    if (!inside.atEnd) note('trailing-elements', `attribute ${id}`)
    return { id, values }
  } catch (error) {
    if (!hasCode(error, 'X509_MALFORMED')) throw error
    note('unreadable-attribute', error.message)
    return undefined
  }
}

function readExtensionRequest(values: DerReader, note: NoteOddity): Extension[] {
  if (values.atEnd) {
    note('extension-request-values', 'none')
    return []
  }
  const list = values.enter(tags.sequence, 'extensionRequest')
  if (!values.atEnd) note('extension-request-values', 'more than one')
  const extensions: Extension[] = []
  while (!list.atEnd) extensions.push(readExtension(list, note))
  return extensions
}

function refuseDuplicates(extensions: readonly Extension[], at: DerReader): void {
  const seen = new Set<string>()
  for (const { id } of extensions) {
    if (seen.has(id)) throw at.fail(`certificate request contains duplicate requested extensions (${id})`)
    seen.add(id)
  }
}

function noteExtension({ id, critical, value }: Extension, note: NoteOddity): void {
  const read = requestable.get(id)
  if (read === undefined) note(critical ? 'unknown-critical-extension' : 'unknown-extension', id)
  try {
    read?.(value)
    if (id === oids.basicConstraints && parseBasicConstraints(value).ca) note('ca-requested')
  } catch (error) {
    if (!hasCode(error, 'X509_MALFORMED')) throw error
    note('extension-malformed', error.message)
  }
}
