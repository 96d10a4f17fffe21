import { commonNames, knownAttributes, type Name } from './name.ts'
import type { NoteOddity } from './oddity.ts'
import { hasControlCharacter } from './san.ts'

const keptByKubernetes: ReadonlySet<string> = new Set(knownAttributes.map(known => known.type))

/** What is dangerous about a subject although Go reads it. */
export function noteSubjectOddities(subject: Name, note: NoteOddity): void {
  const names = commonNames(subject)
  if (names.length > 1) note('two-common-names', names.map(name => JSON.stringify(name)).join(', '))
  for (const rdn of subject.rdns) {
    // Several organizations in one SET are how Go itself writes them; only a mix of types reads differently.
    if (new Set(rdn.map(attribute => attribute.type)).size > 1) note('multi-valued-rdn')
    for (const { type, value } of rdn) {
      if (!keptByKubernetes.has(type)) note('attribute-dropped', type) // C-36
      if (hasControlCharacter(value)) note('control-character', `subject ${type} ${JSON.stringify(value)}`)
    }
  }
}

const nodeKeyTypes = /^(P-256|P-384|P-521|Ed25519|RSA-\d+)$/

/** Weak and unusual keys. */
export function noteKeyOddities(keyType: string, note: NoteOddity): void {
  const shortRsa = keyType.startsWith('RSA-') && Number(keyType.slice('RSA-'.length)) < 2048
  if (keyType === 'P-224' || shortRsa) note('weak-key', keyType)
  else if (!nodeKeyTypes.test(keyType)) note('key-type', keyType)
}
