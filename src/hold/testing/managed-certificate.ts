import assert from 'node:assert/strict'
import { RollcallError } from '../../errors.ts'
import { asynchronousDisk, MachineDisk } from '../../fleet/simulated/disk.ts'
import { SeededRandom } from '../../fleet/simulated/random.ts'
import { type CertificateTemplate, clientTemplate, servingTemplate } from '../../join/template.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { createTestAuthority } from '../../testing/test-authority.ts'
import { CertificateManager, type RequestOrder } from '../certificate-manager.ts'
import { createCertificateStore } from '../certificate-store.ts'
import type { HoldRules } from '../next-step.ts'

export const start = Date.parse('2026-05-01T00:00:00Z')
export const [second, minute, hour] = [1000, 60_000, 3_600_000]
export const client = clientTemplate('node-a', 'Ed25519')
export const denied = () =>
  new RollcallError('CSR_DENIED', 'CertificateSigningRequest "csr-x" was denied: no')

/** One attempt to get a certificate, which the test answers. */
export interface Ask extends RequestOrder {
  at: number
  settled: boolean
  /** Hands out a certificate that began `backdate` ms ago (5 minutes) and ends `lifetime` ms from now. */
  issue(lifetime: number, options?: { backdate?: number; template?: CertificateTemplate }): Promise<void>
  fail(error: unknown): Promise<void>
}

/** A certificate manager on a disk of its own, under a clock that the test moves. */
export async function node(rules: Partial<HoldRules> = {}, template: CertificateTemplate | 'none' = client) {
  const clock = createManualClock(start)
  const random = new SeededRandom('manager')
  const authority = await createTestAuthority(random)
  const machineDisk = new MachineDisk(random.stream('disk'), clock)
  const disk = asynchronousDisk(machineDisk, async call => call())
  const log = recordingLog()
  const asks: Ask[] = []
  const request = (order: RequestOrder) =>
    new Promise<Awaited<ReturnType<typeof authority.issue>>>((resolve, reject) => {
      asks.push({
        ...order,
        at: clock.monotonic(),
        settled: false,
        async issue(lifetime, { backdate = 5 * minute, template: given = order.template } = {}) {
          this.settled = true
          const now = Math.floor(clock.now() / 1000) * 1000
          resolve(await authority.issue(given, { notBefore: now - backdate, notAfter: now + lifetime }))
          await clock.advance(0)
        },
        async fail(error) {
          this.settled = true
          reject(error)
          await clock.advance(0)
        },
      })
    })
  const make = () =>
    new CertificateManager({
      name: 'test',
      store: createCertificateStore({ disk, clock, log, directory: '/pki', prefix: 'test' }),
      clock,
      random,
      log,
      rules: { renew: true, signsWithHeld: true, longestSleep: minute, ...rules },
      ...(template !== 'none' && { template }),
      request,
    })
  const manager = make()
  await manager.start()
  /** The newest attempt. */
  const ask = () => {
    const last = asks.at(-1)
    assert.ok(last, 'nothing was asked for')
    return last
  }
  return { clock, machineDisk, disk, log, asks, ask, manager, make }
}

/** The template of a serving certificate for these addresses. */
export const at = (...addresses: string[]): CertificateTemplate => {
  const list = addresses.map(address => ({ type: 'InternalIP', address }))
  const template = servingTemplate('node-a', list, 'Ed25519')
  assert.ok(template)
  return template
}
