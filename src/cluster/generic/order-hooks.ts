/** Commands of the operator, as orders of a rotation run them: each again until it is done, and not for ever. */

import { RollcallError } from '../../errors.ts'
import type { Order } from '../../rollover/effects/effect.ts'
import type { GenericControl } from './generic-control.ts'
import type { GenericState } from './generic-state.ts'
import { type Hook, type HookCommand, runHook } from './hook.ts'
import { controllerId } from './own-way-in.ts'
import type { ManagedRole, ServerHookName } from './rollover-file.ts'

export type Fence = Pick<Order, 'token' | 'sequence'>
export type Variables = Readonly<Record<string, string>>

export class OrderHooks {
  readonly #control: GenericControl
  readonly #role: ManagedRole
  readonly #failures = new Map<string, number>()
  /** What people have to do with their own hands, by what it is about. */
  readonly awaited = new Map<string, string>()

  constructor(control: GenericControl, role: ManagedRole) {
    this.#control = control
    this.#role = role
  }

  /** P8: an order by which this controller would lose its own way in is not carried out; people are told what to do first. */
  guard(problem: string | undefined): void {
    if (problem === undefined) return
    this.awaited.set(controllerId, problem)
    throw new RollcallError('LOCKED_OUT', `this controller would be locked out: ${problem}`)
  }

  /** Something has to be settled by people before an order is carried out. */
  need(about: string, asked: string | undefined): void {
    if (asked === undefined) return
    this.awaited.set(about, asked)
    throw new RollcallError('CA_NOT_PREPARED', `${about}: ${asked}`)
  }

  /** What is done to one API server. `byHand` is what a human is told who does it himself. */
  async onServer(
    name: ServerHookName,
    server: string,
    variables: Variables,
    byHand: string,
    order: Fence,
  ): Promise<void> {
    const hook = this.#control.file.hooks[name]
    const about = `${name} of ${server}`
    if (hook) await this.#do(about, hook, { ROLLCALL_SERVER: server, ...variables }, byHand, order)
  }

  /** Somebody else is to sign by another CA, or by none. */
  async onSigner(variables: Variables, byHand: string, order: Fence): Promise<void> {
    const hook = this.#control.file.hooks.signWith
    if (hook) await this.#do('signWith', hook, variables, byHand, order)
  }

  async #do(about: string, hook: Hook, variables: Variables, byHand: string, order: Fence): Promise<void> {
    if (hook === 'wait') this.awaited.set(about, byHand)
    else await this.run(`hook ${about}`, hook, variables, order)
  }

  /** One that failed too often at this step is left to people, who are told. */
  async run(about: string, hook: HookCommand, variables: Variables, order: Fence): Promise<void> {
    const failed = this.#control.trust.role(this.#role)?.failed ?? []
    if (failed.some(one => one.about === about && one.sequence >= order.sequence)) return
    const key = `${about} ${order.sequence}`
    try {
      const fence = { ROLLCALL_TOKEN: `${order.token}`, ROLLCALL_SEQUENCE: `${order.sequence}` }
      await this.ask(about, hook, { ...variables, ...fence })
      this.#failures.delete(key)
    } catch (error) {
      const times = (this.#failures.get(key) ?? 0) + 1
      this.#failures.set(key, times)
      if (times >= hook.attempts) await this.#giveUp(about, error, order)
      throw error
    }
  }

  /** Runs it once, whatever came of it before, and gives what it printed. */
  ask(about: string, hook: HookCommand, variables: Variables): Promise<string> {
    const { file, spawn, clock } = this.#control
    const role = { ROLLCALL_ROLE: this.#role }
    return runHook(about, hook, { ...role, ...variables }, { spawn, clock, directory: file.directory })
  }

  #giveUp(about: string, error: unknown, { token, sequence }: Fence): Promise<void> {
    const told = error instanceof Error ? error.message : String(error)
    const message = told.startsWith(`${about} `) ? told.slice(about.length + 1) : told
    const entry = { about, message, sequence }
    return this.#control.trust.change(this.#role, { token, sequence }, ({ failed }: GenericState) => ({
      failed: [...failed.filter(one => one.about !== about), entry],
    }))
  }
}
