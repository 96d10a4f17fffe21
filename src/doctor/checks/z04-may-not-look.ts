import { type Check, view } from '../check.ts'

export const z04: Check = {
  meta: {
    id: 'Z04',
    severity: 'info',
    title: 'The doctor may look everywhere',
    failureTitle: 'The doctor may not look everywhere',
    symptom: 'Checks are SKIP; a report without findings says less than it seems to.',
    description:
      'Whoever runs the doctor lacks rights to read what some checks are made from. Those checks are SKIP, never OK, and the exit code is 4 where nothing else was found.',
    remedy: 'Bind the role rollcall-viewer, or run `doctor node` as root; what stays SKIP then is named.',
  },
  views: [
    view({
      requiredArtifacts: ['refusals'],
      audit: ({ refusals }) =>
        refusals.length === 0
          ? []
          : [
              {
                object: `what is read for ${refusals.map(({ artifact }) => artifact).join(', ')}`,
                evidence: refusals.map(({ artifact, reason }) => ({ value: reason, source: artifact })),
                cause: 'Rights are missing, or files belong to another user.',
                fix: [
                  {
                    run: 'kubectl apply -f deploy/rbac/rollcall-viewer.yaml && kubectl create clusterrolebinding rollcall-viewer --clusterrole=rollcall-viewer --user=NAME',
                    purpose:
                      'as an administrator, for the NAME that `kubectl auth whoami` gives; on a node, run the doctor as root instead',
                  },
                ],
                verify: { run: 'rollcall doctor', purpose: 'has no check on the line SKIP any more' },
              },
            ],
    }),
  ],
}
