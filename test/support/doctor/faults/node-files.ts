/** The certificate files of a node that `up` runs, broken. */
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { systemCode } from '../../../../src/errors.ts'
import { systemRandom } from '../../../../src/host/random.ts'
import { generateSigner } from '../../../../src/keys/private-key.ts'
import { mountSmallDisk, noSmallDisk, withoutSmallDisk } from '../../small-disk.ts'
import { otherAuthority } from '../authority.ts'
import {
  atNode,
  currentFile,
  day,
  hour,
  kubeconfig,
  kubeconfigText,
  pairOf,
  pki,
  writePair,
} from '../examined-node.ts'
import type { ExaminedUp, Fault } from '../examined-up.ts'

const inMemory = `/dev/shm/rollcall-${process.pid}`
const current = (up: ExaminedUp) => pki(up, 'kubelet-client-current.pem')
/** Two days ago, and over since yesterday. */
const ended = (up: ExaminedUp) => pairOf(up, { now: up.now() - 2 * day })

const faults: readonly Omit<Fault, 'args'>[] = [
  {
    id: 'E01',
    what: 'a link that leads nowhere',
    make: up => rmSync(pki(up, currentFile(up))),
  },
  {
    id: 'E02',
    what: 'a file in place of the link',
    make(up) {
      const text = readFileSync(current(up))
      rmSync(current(up))
      writeFileSync(current(up), text, { mode: 0o600 })
    },
  },
  {
    id: 'E03',
    what: 'a link that a crash left',
    make: up => symlinkSync(currentFile(up), pki(up, 'kubelet-client-updated.pem')),
  },
  { id: 'E04', what: 'an empty pair', make: up => writePair(up, '') },
  {
    id: 'E05',
    what: 'the key of another pair',
    make(up) {
      const [certificate = ''] = readFileSync(current(up), 'utf8').split(/(?=-----BEGIN [A-Z ]*PRIVATE KEY)/)
      writePair(up, certificate + generateSigner('ECDSA-P256', systemRandom).exportPem().reveal())
    },
  },
  {
    id: 'E07',
    what: 'a key that everybody may read',
    make: up => chmodSync(pki(up, currentFile(up)), 0o644),
  },
  {
    id: 'E08',
    what: 'pairs that nobody deletes',
    make(up) {
      for (let n = 10; n < 32; n++)
        copyFileSync(current(up), pki(up, `kubelet-client-2026-03-01-12-00-${n}.pem`))
    },
  },
  {
    id: 'E09',
    what: 'a kubeconfig with an old certificate in it',
    async make(up) {
      const file = pki(up, 'kubelet-client-2026-02-01-00-00-00.pem')
      writeFileSync(file, await ended(up), { mode: 0o600 })
      const user = { clientCertificate: { file }, clientKey: { file } }
      writeFileSync(kubeconfig(up), kubeconfigText(up, { user }))
    },
  },
  {
    id: 'E10',
    what: 'another program writes newer certificates into the kubeconfig',
    async make(up) {
      const file = pki(up, '../salt.pem')
      writeFileSync(file, await pairOf(up), { mode: 0o600 })
      const user = { clientCertificate: { file }, clientKey: { file } }
      writeFileSync(kubeconfig(up), kubeconfigText(up, { user }))
    },
  },
  { id: 'E11', what: 'the client certificate has ended', make: async up => writePair(up, await ended(up)) },
  {
    id: 'E12',
    what: 'a certificate from a clock that is ahead',
    make: async up => writePair(up, await pairOf(up, { now: up.now() + hour })),
  },
  {
    id: 'E18',
    what: 'a renewal is overdue',
    make: async up => writePair(up, await pairOf(up, { now: up.now() - 23.5 * hour })),
  },
  { id: 'E21', what: 'a kubeconfig names files that are gone', make: up => rmSync(current(up)) },
  {
    id: 'G07',
    what: 'the serving certificate on the disk has ended',
    make: async up =>
      writePair(up, await pairOf(up, { usage: 'server auth', now: up.now() - 2 * day }), 'server'),
  },
  {
    id: 'I02',
    what: 'a kubeconfig that trusts another CA',
    async make(up) {
      const { pem } = await otherAuthority(up.now() + 1000 * day)
      writeFileSync(kubeconfig(up), kubeconfigText(up, { certificateAuthority: { pem } }))
    },
  },
]

export const nodeFileFaults: readonly Fault[] = [
  ...faults.map(fault => ({ ...fault, args: atNode })),
  {
    id: 'A18',
    what: 'a certificate directory in memory',
    args: up => [...atNode(up), '--cert-dir', inMemory],
    make(up) {
      cpSync(pki(up, '.'), inMemory, { recursive: true, verbatimSymlinks: true })
      up.onMend(() => rmSync(inMemory, { recursive: true }))
    },
  },
  {
    id: 'E06',
    what: 'the disk of the certificates is full',
    skip: withoutSmallDisk(),
    args: up => [...atNode(up), '--cert-dir', up.scratch('disk')],
    make(up) {
      const path = up.scratch('disk')
      mkdirSync(path)
      const disk = mountSmallDisk(path, '1m')
      if (!disk) throw new Error(noSmallDisk)
      up.onMend(() => disk.unmount())
      cpSync(pki(up, '.'), path, { recursive: true, verbatimSymlinks: true })
      fill(join(path, 'core'))
    },
  },
]

/** Until there is no space left. */
function fill(file: string): void {
  try {
    for (;;) appendFileSync(file, Buffer.alloc(4096))
  } catch (error) {
    if (systemCode(error) !== 'ENOSPC') throw error
  }
}
