import type { ReadFacts } from '../facts.ts'
import { deny, type RequestKind, type Rule } from '../rule.ts'
import { kindOf } from './our-signer.ts'

const needed: Record<RequestKind, readonly string[]> = {
  client: ['digital signature', 'client auth'],
  serving: ['digital signature', 'server auth'],
}

export const exactUsages: Rule<ReadFacts> = {
  name: 'ExactUsages',
  sentence:
    'The usages are digital signature and client auth or server auth, with or without key encipherment.',
  check({ csr }) {
    const kind = kindOf(csr)
    if (!kind) return undefined
    // C-30, C-31: a set; kubelets ask for key encipherment with RSA keys only (since 1.27), others always.
    const usages = new Set(csr.spec.usages)
    usages.delete('key encipherment')
    if (usages.size === 2 && needed[kind].every(usage => usages.has(usage))) return undefined
    return deny(
      'UsagesInvalid',
      `usages [${csr.spec.usages.join(', ')}] are not [${needed[kind].join(', ')}] with or without key encipherment`,
    )
  },
}
