/**
 * Something that Go's crypto/x509 (so Kubernetes) accepts and that is still dangerous: two parsers could read it
 * differently, or no node has a reason to send it. Judgement refuses a request that has any.
 */
export interface Oddity {
  code: OddityCode
  text: string
}

const oddityMeanings = {
  'two-common-names': 'more than one common name: Go takes the last, others the first',
  'multi-valued-rdn': 'a relative distinguished name mixes several attribute types',
  'string-type': 'a name is neither UTF8String nor PrintableString',
  'attribute-not-a-string': 'an attribute of the subject is not a string, so Go drops it',
  'attribute-dropped': "an attribute type of the subject that Kubernetes' signer drops",
  'control-character': 'a NUL or other control character',
  'version-not-zero': 'the version of the request is not 0',
  'trailing-elements': 'a structure has elements after those the standard names',
  'unreadable-attribute': 'an attribute that cannot be parsed, which Go ignores',
  'unknown-attribute': 'an attribute with no meaning to Kubernetes',
  'microsoft-extension-request': "Microsoft's extension request, which Go ignores",
  'two-extension-requests': 'more than one extensionRequest attribute',
  'extension-request-values':
    'an extensionRequest attribute with other than one value; Go reads only the first',
  'unknown-extension': "a requested extension that Kubernetes' signer drops",
  'unknown-critical-extension': 'an unknown extension marked critical',
  'ca-requested': 'basicConstraints asks for CA:TRUE',
  'extension-malformed': 'a requested extension is malformed; Go does not look into it',
  'san-trailing-bytes': 'bytes after the subjectAltName inside its extension',
  'san-empty': 'a subjectAltName extension without any name',
  'san-other-name': 'an otherName, directoryName, registeredID or unknown kind of name, which Go drops',
  'dns-name-syntax': 'a DNS name that is not letters, digits and hyphens in labels',
  'signature-sha1': 'signed with SHA-1',
  'signature-algorithm': 'a signature algorithm Rollcall does not use',
  'signature-parameters': 'parameters of the signature algorithm other than the standard demands',
  'signature-bits': 'a signature whose bit string has unused bits',
  'weak-key': 'a key below 112 bits of strength (RSA under 2048 bits, P-224)',
  'key-type': 'a key type that certificates of nodes do not use',
} as const

export type OddityCode = keyof typeof oddityMeanings

/** Collects oddities while a structure is read; `where` names the part or value. */
export type NoteOddity = (code: OddityCode, where?: string) => void

export function oddityNotes(): { oddities: Oddity[]; note: NoteOddity } {
  const oddities: Oddity[] = []
  const note: NoteOddity = (code, where) => {
    const text = where === undefined ? oddityMeanings[code] : `${oddityMeanings[code]}: ${where}`
    if (!oddities.some(known => known.code === code && known.text === text)) oddities.push({ code, text })
  }
  return { oddities, note }
}
