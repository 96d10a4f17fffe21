import type { Access } from '../../apiserver/access/access.ts'
import type { Clock } from '../../ports.ts'
import type { SeenConsumers } from './seen-consumers.ts'

/** The same access, which also tells who has come on which connection: the real user, whomever it impersonates. */
export function witnessed(access: Access, seen: () => SeenConsumers | undefined, clock: Clock): Access {
  return {
    ...access,
    authenticate(request, peer) {
      const identity = access.authenticate(request, peer)
      seen()?.request(
        identity.impersonatedBy ?? identity.user,
        peer,
        request.headers['user-agent'],
        clock.now(),
      )
      return identity
    },
  }
}
