/** Every case. A file here holds those of one part of the reference; adding one is a line here. */
import type { Case } from '../case.ts'
import { authentication } from './authentication.ts'
import { authorization } from './authorization.ts'
import { certificateAdmission } from './certificate-admission.ts'
import { certificateRequests } from './certificate-requests.ts'
import { changes } from './changes.ts'
import { listsAndWatches } from './lists-and-watches.ts'
import { objects } from './objects.ts'
import { trustAndTunnels } from './trust-and-tunnels.ts'

export const cases: readonly Case[] = [
  ...certificateRequests,
  ...certificateAdmission,
  ...authentication,
  ...authorization,
  ...objects,
  ...changes,
  ...listsAndWatches,
  ...trustAndTunnels,
]
