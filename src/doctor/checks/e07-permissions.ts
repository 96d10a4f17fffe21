import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'

export const e07: Check = {
  meta: {
    id: 'E07',
    severity: 'critical',
    title: 'The pairs can be read by their owner and by nobody else',
    failureTitle: 'A key file has the wrong permissions',
    symptom: 'The kubelet cannot read its pair; or every user of the machine can, and may pose as the node.',
    description: 'A key file is mode 0600. Hardening scripts, SELinux contexts and restores change that.',
    remedy:
      'chmod 600, and restorecon where SELinux is on. Where others could read a key, have a new one made.',
  },
  views: [
    view({
      requiredArtifacts: ['certDirectory'],
      audit: ({ certDirectory: { path: directory, files } }) =>
        files.flatMap(({ name, kind, mode, unreadable, hasKey }) => {
          const path = `${directory}/${name}`
          const refused = unreadable === 'EACCES' || unreadable === 'EPERM'
          const open = kind === 'file' && hasKey === true && (mode & 0o077) !== 0
          if (!refused && !open) return []
          const octal = `0${(mode & 0o777).toString(8)}`
          return {
            object: path,
            evidence: [{ value: refused ? `cannot be read: ${unreadable}` : `mode ${octal}`, source: path }],
            cause: refused
              ? 'Mode, owner or SELinux context do not let it be read.'
              : 'Others may read the key.',
            severity: refused ? ('critical' as const) : ('warning' as const),
            fix: [
              {
                run: `chmod 600 ${shellWord(path)} && restorecon ${shellWord(path)}`,
                purpose: 'on the node',
              },
            ],
            verify: { run: `ls -lZ ${shellWord(path)}`, purpose: 'shows -rw-------' },
          }
        }),
    }),
  ],
}
