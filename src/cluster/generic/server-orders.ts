/** What is switched on API servers that are not ours: files are made ready, and the operator's hooks put them in place. */
import type { Effect } from '../../rollover/effects/effect.ts'
import type { Servers } from './generic-control.ts'
import { bundleFile, chainFiles, type HandedFiles, probeFiles } from './handed-files.ts'
import type { Fence, OrderHooks } from './order-hooks.ts'

export interface ServerParts {
  servers: Servers
  hooks: OrderHooks
  handed: HandedFiles
}

export async function presentChain(
  { server: name, authority, mode }: Extract<Effect, { kind: 'present' }>,
  order: Fence,
  { servers, hooks, handed }: ServerParts,
): Promise<void> {
  const server = servers.get(name)
  const shown = await server?.presented()
  // The names that the new certificate has to have are those that the server has now.
  if (!server || !shown) throw new RangeError(`${name} shows no certificate of a CA that is known here`)
  const { certificate, key } = await chainFiles(name, shown, { authority, mode }, handed)
  const variables = {
    ROLLCALL_AUTHORITY: `${authority}`,
    ROLLCALL_MODE: mode,
    ROLLCALL_CERTIFICATE: certificate,
    ROLLCALL_KEY: key,
  }
  const byHand = `have ${name} present ${certificate}, whose key is ${key}`
  await hooks.onServer('present', name, variables, byHand, order)
  server.forget()
}

export async function trustClients(
  { server, generation, pem }: { server: string; generation: number; pem: string },
  order: Fence,
  { servers, hooks, handed }: ServerParts,
): Promise<void> {
  const bundle = await bundleFile(`client-${generation}`, pem, handed)
  const variables = { ROLLCALL_GENERATION: `${generation}`, ROLLCALL_BUNDLE: bundle }
  const byHand = `have ${server} judge clients by ${bundle}`
  await hooks.onServer('clientTrust', server, variables, byHand, order)
  servers.get(server)?.forget()
}

/** Whether every API server shows the bare chain of this CA to who asks for it by name; those that do not are ordered to. */
export async function allShowByName(
  authority: number,
  order: Fence,
  { servers, hooks, handed }: ServerParts,
): Promise<boolean> {
  let all = true
  for (const [name, server] of servers) {
    if (await server.showsByName(authority)) continue
    all = false
    const { certificate, key } = await probeFiles(authority, handed)
    const variables = {
      ROLLCALL_AUTHORITY: `${authority}`,
      // Two neighbours are shown at a time: the one that comes and the one that goes.
      ROLLCALL_SLOT: `${authority % 2}`,
      ROLLCALL_CERTIFICATE: certificate,
      ROLLCALL_KEY: key,
    }
    const byHand = `have ${name} show ${certificate}, whose key is ${key}, to who asks for its name`
    await hooks.onServer('probe', name, variables, byHand, order)
    server.forget()
  }
  return all
}
