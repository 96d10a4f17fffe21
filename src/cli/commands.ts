import type { Command } from 'commander'
import type { CommandIo } from './command-io.ts'

export interface CommandModule {
  register(program: Command, io: CommandIo): void
}

/** One file a command; each is loaded only when it is asked for, so that `up` does not pay for the others. */
export const commands: Readonly<Record<string, () => Promise<CommandModule>>> = {
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

/** Adds all commands, or `asked` alone where there is such a one. */
export async function registerCommands(program: Command, io: CommandIo, asked?: string): Promise<void> {
  const only = asked === undefined ? undefined : commands[asked]
  const modules = await Promise.all(only ? [only()] : Object.values(commands).map(load => load()))
  for (const module of modules) module.register(program, io)
}
