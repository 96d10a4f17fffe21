import { type Check, view } from '../check.ts'
import { showRequest, watchRequests } from '../commands.ts'

/** What a signer says whose key is in a token or in another program; `up` and `server` say no more than that it is away. */
const aboutToken =
  /pkcs#?11|token|CKR_|PIN|slot|HSM|remote signer|external signer|key of the signing CA is away/i

export const d10: Check = {
  meta: {
    id: 'D10',
    severity: 'critical',
    title: 'The token that holds the signing key can be used',
    failureTitle: 'The token that holds the signing key cannot be used',
    symptom: 'Requests show "Approved" and never "Approved,Issued"; the controller runs.',
    description:
      'The signer says by an Event SignerUnavailable about the request that its PKCS#11 token or signing program does not answer: it is not there, its PIN is wrong or locked, or it knows no such key.',
    remedy: 'Put the token back or unlock it; the controller goes on by itself.',
    explains: ['D01', 'B14'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'events'],
      audit({ requests, events }) {
        const told = new Map(
          events
            .filter(({ reason, message }) => reason === 'SignerUnavailable' && aboutToken.test(message ?? ''))
            .map(event => [event.involvedObject.name, event]),
        )
        return requests.flatMap(({ name, node, state }) => {
          const event = state === 'unsigned' ? told.get(name) : undefined
          if (!event) return []
          return {
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              {
                value: `${event.reason}: ${event.message}`,
                source: `Event about ${name}`,
                ...(event.lastTimestamp && { at: event.lastTimestamp }),
              },
            ],
            cause: 'The signer cannot use its key.',
            fix: [
              {
                run: 'pkcs11-tool --list-slots',
                purpose: 'where the controller runs: is the token there, and unlocked?',
              },
              showRequest(name),
            ],
            verify: watchRequests,
          }
        })
      },
    }),
  ],
}
