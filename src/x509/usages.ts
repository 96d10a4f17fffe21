import { BoundedCache } from './bounded-cache.ts'
import { type KeyUsage, keyUsageBits } from './extension-values.ts'

/** Kubernetes' usage words that are key usage bits (C-37). */
const bitOfWord: Readonly<Record<string, KeyUsage>> = {
  signing: 'digitalSignature',
  'digital signature': 'digitalSignature',
  'content commitment': 'contentCommitment',
  'key encipherment': 'keyEncipherment',
  'key agreement': 'keyAgreement',
  'data encipherment': 'dataEncipherment',
  'cert sign': 'keyCertSign',
  'crl sign': 'cRLSign',
  'encipher only': 'encipherOnly',
  'decipher only': 'decipherOnly',
}

/** Kubernetes' usage words that are extended key usages (C-37), in the order of Go's enum, which is how they are sorted. */
const oidOfWord: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
}

/** Every usage word the API accepts in spec.usages. */
export const usageWords: readonly string[] = [...Object.keys(bitOfWord), ...Object.keys(oidOfWord)]

export interface CertificateUsages {
  readonly keyUsage: readonly KeyUsage[]
  /** Dotted identifiers in the order of Go's enum (C-36). */
  readonly extendedKeyUsage: readonly string[]
  /** Words nobody knows, in order; the signer refuses with `unrecognized usage values: […]`. */
  readonly unrecognized: readonly string[]
}

/** What usage words mean in a certificate: bits in bit order, extended usages in Go's order, each once. */
export function usagesOfWords(words: readonly string[]): CertificateUsages {
  return remembered.getOrCompute(words.join('\n'), () => meaningOf(words))
}

/** A cluster asks for the same few again and again. */
const remembered = new BoundedCache<CertificateUsages>(256)

function meaningOf(words: readonly string[]): CertificateUsages {
  const bits = new Set(words.map(word => own(bitOfWord, word)))
  const identifiers = new Set(words.map(word => own(oidOfWord, word)))
  return {
    keyUsage: keyUsageBits.filter(bit => bits.has(bit)),
    extendedKeyUsage: [...new Set(Object.values(oidOfWord))].filter(oid => identifiers.has(oid)),
    unrecognized: words.filter(word => !usageWords.includes(word)),
  }
}

/** The usage words of a certificate, key usage bits first: `digital signature`, `client auth`. Unknown ones are left out. */
export function wordsOfUsages(of: {
  keyUsage?: readonly KeyUsage[]
  extendedKeyUsage?: readonly string[]
}): string[] {
  const word = <V>(table: Readonly<Record<string, V>>, value: V, skip = '') => {
    return Object.keys(table).find(key => table[key] === value && key !== skip)
  }
  const bits = (of.keyUsage ?? []).map(bit => word(bitOfWord, bit, 'signing'))
  const identifiers = (of.extendedKeyUsage ?? []).map(oid => word(oidOfWord, oid))
  return [...bits, ...identifiers].filter(found => found !== undefined)
}

function own<V>(table: Readonly<Record<string, V>>, key: string): V | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}
