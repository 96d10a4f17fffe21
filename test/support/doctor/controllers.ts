/** The controllers of `up` work while they hold their Lease: who takes it stops them. */
import { readFileSync } from 'node:fs'
import { isStatus } from '../../../src/kube/client.ts'
import { formatMicroTime } from '../../../src/kube/time-format.ts'
import { type Lease, resources } from '../../../src/kube/types.ts'
import { eventually } from '../eventually.ts'
import type { ExaminedUp } from './examined-up.ts'

const lease = { name: 'rollcall-controller', namespace: 'kube-system' }

/** How often they took up their work, and ended it. */
function turns(up: ExaminedUp): { begun: number; ended: number } {
  const log = readFileSync(up.path('rollcall.log'), 'utf8')
  const count = (text: string) => log.split(`${lease.namespace}/${lease.name}: ${text}`).length - 1
  return { begun: count('leading as'), ended: count('leading no more') }
}

/** Another one holds the Lease, as one would that neither approves nor signs. */
export async function stopControllers(up: ExaminedUp): Promise<void> {
  const { ended } = turns(up)
  await holdLease(up)
  await eventually('the controllers stop', () => turns(up).ended > ended)
}

/** Renewed so many milliseconds ago: it has run out where that is more than an hour. */
export async function holdLease({ admin, now }: ExaminedUp, ago = 0): Promise<void> {
  for (;;) {
    const current = await admin.get<Lease>(resources.leases, lease)
    const spec = {
      ...current.spec,
      holderIdentity: 'somebody-else',
      // By their own clocks they wait for so long before they take it back.
      leaseDurationSeconds: 3600,
      renewTime: formatMicroTime(now() - ago),
    }
    try {
      await admin.update<Lease>(resources.leases, { ...current, spec })
      return
    } catch (error) {
      if (!isStatus(error, 'Conflict')) throw error
    }
  }
}

export async function startControllers(up: ExaminedUp): Promise<void> {
  const { begun } = turns(up)
  await up.admin.delete(resources.leases, lease)
  await eventually('the controllers work', () => turns(up).begun > begun)
}

/** Waits until the controllers have renewed their Lease by the clock as it is now. */
export async function renewedLease({ admin, now }: ExaminedUp): Promise<void> {
  await eventually('the controllers renew their Lease', async () => {
    const { spec } = await admin.get<Lease>(resources.leases, lease)
    return Math.abs(Date.parse(spec?.renewTime ?? '') - now()) < 30_000
  })
}
