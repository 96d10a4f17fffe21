import type { Command } from 'commander'
import type { CommandIo } from './command-io.ts'

export interface CommandModule {
  register(program: Command, io: CommandIo): void | Promise<void>
  /** Of a group, no more than what `words`, those behind its name, ask for. */
  registerFor?(program: Command, io: CommandIo, words: readonly string[]): Promise<void>
}

export type CommandModules = Readonly<Record<string, () => Promise<CommandModule>>>

/** One file a command; each is loaded only when it is asked for, so that `up` does not pay for the others. */
const commands: CommandModules = {
  up: () => import('./up.ts'),
  server: () => import('./server.ts'),
  controller: () => import('./controller.ts'),
  agent: () => import('./agent.ts'),
  credential: () => import('./credential.ts'),
  demo: () => import('./demo.ts'),
  dashboard: () => import('./dashboard.ts'),
  status: () => import('./status.ts'),
  nodes: () => import('./nodes.ts'),
  node: () => import('./node.ts'),
  pods: () => import('./pods.ts'),
  csr: () => import('./csr/csr.ts'),
  policy: () => import('./policy/policy.ts'),
  ca: () => import('./ca/ca.ts'),
  trust: () => import('./trust/trust.ts'),
  simulate: () => import('./simulate.ts'),
  audit: () => import('./audit/audit.ts'),
  renew: () => import('./renew.ts'),
  certs: () => import('./certs.ts'),
  doctor: () => import('./doctor.ts'),
  token: () => import('./token.ts'),
  identity: () => import('./identity/identity.ts'),
  key: () => import('./key.ts'),
  completion: () => import('./completion.ts'),
  'complete-words': () => import('./complete-words.ts'),
  'fleet-process': () => import('./fleet-process.ts'),
  'token-tls': () => import('./token-tls.ts'),
}

/** Adds all commands, or the one alone that `words`, a command line, begins with. */
export async function registerCommands(
  program: Command,
  io: CommandIo,
  words?: readonly string[],
): Promise<void> {
  await registerAsked(commands, program, io, words)
}

/** The same for any group of commands. */
export async function registerAsked(
  from: CommandModules,
  parent: Command,
  io: CommandIo,
  [asked = '', ...rest]: readonly string[] = [],
): Promise<void> {
  const only = Object.hasOwn(from, asked) ? from[asked] : undefined
  const modules = await Promise.all(only ? [only()] : Object.values(from).map(load => load()))
  for (const module of modules)
    await (only && module.registerFor ? module.registerFor(parent, io, rest) : module.register(parent, io))
}
