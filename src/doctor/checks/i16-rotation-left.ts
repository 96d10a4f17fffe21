import { formatAge } from '../../kube/time-format.ts'
import { controllerLease, isRollcall } from '../../survey/csr-facts.ts'
import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { leaseLines } from '../lease-lines.ts'
import { isUnderWay } from '../rotations.ts'

/** Milliseconds that a new orchestrator may need to take over. */
const patience = 2 * 60_000

export const i16: Check = {
  meta: {
    id: 'I16',
    severity: 'critical',
    title: 'A rotation that was begun is carried on',
    failureTitle: 'A rotation was begun, and nobody carries it on',
    symptom: 'Two CAs are trusted, and nothing changes any more.',
    description:
      'A CARotation is under way, and no controller of Rollcall holds its Lease: it was stopped or crashed. Nothing is lost, as the phase is computed anew from what is in use.',
    remedy: 'Start the controller again: it goes on from where the cluster stands.',
  },
  views: [
    view({
      requiredArtifacts: ['rotations', 'controllerLeases'],
      audit({ rotations, controllerLeases }, now) {
        const ours = controllerLeases.filter(({ metadata }) => isRollcall(metadata.name))
        if (ours.some(lease => controllerLease(lease, now).live)) return []
        return rotations
          .filter(rotation => isUnderWay(rotation) && now - Date.parse(rotation.begun) > patience)
          .map(({ name, phase, role, begun }) => ({
            object: `CARotation ${name}`,
            evidence: [
              {
                value: `${role}, in ${phase}, begun ${formatAge(now - Date.parse(begun))} ago`,
                source: `CARotation ${name} status.phase`,
                at: begun,
              },
              ...leaseLines(ours, now),
            ],
            cause: 'No controller of Rollcall runs.',
            fix: [
              { run: 'rollcall controller', purpose: 'with the flags of before; goes on with the rotation' },
              { run: `rollcall ca status ${shellWord(name)}`, purpose: 'where it stands' },
            ],
            verify: { run: `rollcall ca status ${shellWord(name)}`, purpose: 'shows that it goes on' },
          }))
      },
    }),
  ],
}
