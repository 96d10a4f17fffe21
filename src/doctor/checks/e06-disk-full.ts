import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'

/** Bytes and files that a new pair and its link need, with room for what is written beside. */
const leastBytes = 64 * 1024
const leastFiles = 4

export const e06: Check = {
  meta: {
    id: 'E06',
    severity: 'critical',
    title: 'The certificate directory can be written',
    failureTitle: 'The certificate directory cannot take a new pair',
    symptom:
      'Every request is issued, and the node asks again after seconds: "Unable to store the new cert/key pair".',
    description:
      'The disk is full, has no inodes left or is mounted read-only. The node asks, is given a certificate and loses it, again and again, until the one that it holds ends.',
    remedy: 'Free space, or mount the disk for writing.',
    explains: ['E18'],
  },
  views: [
    view({
      requiredArtifacts: ['diskSpace'],
      audit({ diskSpace: { path, freeBytes, freeFiles, readOnly } }) {
        const full = freeBytes < leastBytes || freeFiles < leastFiles
        if (!full && !readOnly) return []
        return [
          {
            object: path,
            evidence: [
              {
                value: readOnly ? 'mounted read-only' : `${freeBytes} bytes and ${freeFiles} inodes are free`,
                source: `the file system of ${path}`,
              },
            ],
            cause: readOnly ? 'The file system is read-only.' : 'The file system is full.',
            fix: [
              readOnly
                ? { run: 'dmesg | tail', purpose: 'on the node: why did the kernel stop writing?' }
                : { run: `df -h ${shellWord(path)} && df -i ${shellWord(path)}`, purpose: 'on the node' },
            ],
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
  ],
}
