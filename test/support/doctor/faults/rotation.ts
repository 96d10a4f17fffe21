/** A real rotation of the client CA that `up` begins, and what keeps it from its end. One after the other, and the last of all. */
import { Command } from 'commander'
import { register as registerCa } from '../../../../src/cli/ca/ca.ts'
import { systemIo } from '../../../../src/cli/system-io.ts'
import { isRecord } from '../../../../src/kube/json.ts'
import { type CARotationObject, caRotation } from '../../../../src/kube/rollcall/ca-rotation.ts'
import { eventually } from '../../eventually.ts'
import { ago } from '../actions.ts'
import { renewedLease } from '../controllers.ts'
import type { ExaminedUp, Fault } from '../examined-up.ts'

const minute = 60_000

/** `rollcall ca …` by the administrator. */
async function ca(up: ExaminedUp, ...words: string[]): Promise<void> {
  const program = new Command('rollcall').exitOverride()
  const clock = { ...systemIo.clock, now: up.now }
  await registerCa(program, { ...systemIo, clock, stdout() {}, stderr() {}, exitWith() {} })
  await program.parseAsync(['ca', ...words, '--kubeconfig', up.path('admin.kubeconfig')], { from: 'user' })
}

async function rotationOf({ admin }: ExaminedUp): Promise<CARotationObject | undefined> {
  const { items } = await admin.list<CARotationObject>(caRotation.ref)
  return items[0]
}

/** Waits until its orchestrator has looked at it, and it is so. */
const looked = (up: ExaminedUp, what: string, isSo: (state: Record<string, unknown>) => boolean) =>
  eventually(what, async () => {
    const state = (await rotationOf(up))?.status?.state
    return isRecord(state) && isSo(state)
  })

const nameOf = async (up: ExaminedUp) => (await rotationOf(up))?.metadata.name ?? ''

export const rotationFaults: readonly Fault[] = [
  {
    id: 'I08',
    what: 'a rotation that somebody paused and forgot',
    make: up =>
      ago(up, 61 * minute, async () => {
        await ca(up, 'start', 'client')
        await ca(up, 'pause', await nameOf(up))
        await looked(up, 'it is paused', ({ paused }) => isRecord(paused))
      }).then(() => up.settled()),
    lasting: true,
  },
  {
    id: 'I07',
    what: 'the nodes hang while a CA is changed',
    async make(up) {
      process.kill(up.fleet(), 'SIGSTOP')
      await ca(up, 'resume', await nameOf(up))
      await looked(up, 'it goes on', ({ paused }) => !isRecord(paused))
      up.setAhead(minute)
      await renewedLease(up)
    },
    undo(up) {
      up.setAhead(0)
      process.kill(up.fleet(), 'SIGCONT')
    },
    lasting: true,
  },
]
