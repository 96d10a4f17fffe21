import type { ReadFacts } from '../facts.ts'
import { listed } from '../listed.ts'
import { deny, type Rule } from '../rule.ts'

/** After the rules that name a more telling reason, before those that may wait. */
export const unambiguous: Rule<ReadFacts> = {
  name: 'Unambiguous',
  sentence: 'No part of the request could be read in two ways or is more than a kubelet has reason to send.',
  check({ request }) {
    // How names are written is judged by ServingSanTypes, which lets a trailing dot pass with a warning.
    const oddities = request.oddities.filter(({ code }) => code !== 'dns-name-syntax')
    if (oddities.length === 0) return undefined
    const texts = oddities.map(({ code, text }) => `${text} (${code})`)
    return deny('Malformed', `spec.request has ${listed(texts)}`)
  },
}
