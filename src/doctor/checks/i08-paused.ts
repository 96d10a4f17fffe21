import { formatAge } from '../../kube/time-format.ts'
import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'

/** Milliseconds that a pause is nobody's business; OpenShift's own alert waits as long. */
const patience = 3_600_000

export const i08: Check = {
  meta: {
    id: 'I08',
    severity: 'warning',
    title: 'Nothing that brings new CAs to nodes is paused',
    failureTitle: 'What brings a new CA to nodes is paused',
    symptom:
      'The new bundle is there and nodes do not get it; they are lost when the old CA ends or is dropped.',
    description:
      'A CARotation that was paused, or paused itself, more than an hour ago; or an OpenShift MachineConfigPool that is paused with a configuration it has not rolled out.',
    remedy: 'See why it was paused, and let it go on before the old CA ends.',
    reports: ['openshift/machine-config-operator#965', 'openshift/machine-config-operator#2802'],
  },
  views: [
    view({
      requiredArtifacts: ['rotations'],
      audit: ({ rotations }, now) =>
        rotations.flatMap(({ name, paused, phase, role }) => {
          if (!paused || !(now - Date.parse(paused.since) >= patience)) return []
          return {
            object: `CARotation ${name}`,
            evidence: [
              {
                value: `${role}, in ${phase}, paused ${formatAge(now - Date.parse(paused.since))} ago: ${paused.reason}`,
                source: `CARotation ${name} status`,
                at: paused.since,
              },
            ],
            cause: 'The rotation is paused.',
            fix: [
              { run: `rollcall ca status ${shellWord(name)}`, purpose: 'what it waited for' },
              { run: `rollcall ca resume ${shellWord(name)}`, purpose: 'lets it go on' },
            ],
            verify: { run: `rollcall ca status ${shellWord(name)}`, purpose: 'shows another phase' },
          }
        }),
    }),
    view({
      requiredArtifacts: ['pausedPools'],
      audit: ({ pausedPools }) =>
        pausedPools.map(({ name, wanted, current }) => ({
          object: `MachineConfigPool ${name}`,
          evidence: [
            { value: `paused, wants ${wanted}`, source: `MachineConfigPool ${name} spec` },
            { value: `has ${current}`, source: `MachineConfigPool ${name} status.configuration` },
          ],
          cause: 'The pool is paused, and its machines do not get what was rendered for them.',
          fix: [
            {
              run: `oc patch mcp ${shellWord(name)} --type merge -p '{"spec":{"paused":false}}'`,
              purpose: 'lets it go on; its machines may restart',
            },
          ],
          verify: { run: 'oc get mcp', purpose: 'shows UPDATED True' },
        })),
    }),
  ],
}
