import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'

/** A year of renewals of certificates that live a month. */
const most = 20

export const e08: Check = {
  meta: {
    id: 'E08',
    severity: 'warning',
    title: 'Old pairs are removed',
    failureTitle: 'Old pairs pile up in the certificate directory',
    symptom: 'The disk runs out of space or of inodes.',
    description:
      'The kubelet never deletes the pairs it replaced: with certificates of an hour that is thousands a year.',
    remedy: "Delete all but the newest two. Rollcall's agent does so by itself.",
    reports: ['kubernetes/kubernetes#53027'],
  },
  views: [
    view({
      requiredArtifacts: ['certDirectory'],
      audit({ certDirectory: { path, files } }) {
        const pairs = files.filter(({ name }) =>
          /^kubelet-(client|server)-\d{4}(-\d\d){5}(-\d+)?\.pem$/.test(name),
        )
        if (pairs.length <= most) return []
        return [
          {
            object: path,
            evidence: [{ value: `${pairs.length} pairs`, source: path }],
            cause: 'Nobody deletes replaced pairs.',
            fix: [
              {
                run: `cd ${shellWord(path)} && ls -t kubelet-client-2*.pem | tail -n +3 | xargs rm -- ; ls -t kubelet-server-2*.pem | tail -n +3 | xargs rm --`,
                purpose: 'on the node: keeps the newest two of each kind',
              },
            ],
            verify: { run: `ls ${shellWord(path)} | wc -l`, purpose: 'counts them' },
          },
        ]
      },
    }),
  ],
}
