import type { ReadFacts } from '../facts.ts'
import { deny, type Rule } from '../rule.ts'

export const newestRequest: Rule<ReadFacts> = {
  name: 'NewestRequest',
  sentence: 'It is the newest request of its node and signer.',
  check({ history }) {
    // A kubelet waits for one request at a time: nobody fetches the certificate of an older one.
    const newer = history?.newer
    return newer === undefined
      ? undefined
      : deny('Superseded', `the node has asked again since: request "${newer}"`)
  },
}
