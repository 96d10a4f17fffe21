import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { type RollcallProcess, startRollcall, temporaryFolder } from './rollcall-process.ts'

/** `curl` as a process that is nobody's: what it prints, and its exit code. */
export function curlAsNobody(args: string[]): { code: number | null; stdout: string } {
  const nobody = ['--reuid', '65534', '--regid', '65534', '--clear-groups']
  const { status, stdout } = spawnSync('setpriv', [...nobody, 'curl', '-s', '--max-time', '10', ...args], {
    encoding: 'utf8',
  })
  return { code: status, stdout }
}

/** A control plane and, beside it, the agent of a kubelet that the test plays. */
export interface BesideKubelet {
  /** Path in the folder of this node. */
  in(name: string): string
  kubeletKubeconfig: string
  adminKubeconfig: string
  socket: string
  server: RollcallProcess
  startAgent(flags?: string[]): RollcallProcess
  stop(): Promise<void>
}

export async function startBesideKubelet(
  mode: 'exec' | 'proxy',
  { environment = {}, flags: always = [] as string[], lifetime = '10m' } = {},
): Promise<BesideKubelet> {
  const folder = temporaryFolder()
  const at = (name: string) => join(folder.path, name)
  // As /run and /var/lib are: what is to be closed closes itself.
  chmodSync(folder.path, 0o755)
  const server = startRollcall(['server', '--dir', at('server'), '--port', '0', '--cert-lifetime', lifetime])
  const running = new Set<RollcallProcess>([server])
  const stop = async () => {
    for (const process of [...running].reverse()) await process.stop()
    folder.remove()
  }
  await server.ready.catch(async error => {
    await stop()
    throw error
  })
  const flags = [
    ['--node', 'node-a', '--beside-kubelet', mode],
    ['--bootstrap-kubeconfig', at('server/bootstrap.kubeconfig'), '--kubeconfig', at('agent/kubeconfig')],
    ['--kubelet-kubeconfig', at('kubelet.conf'), '--cert-dir', at('agent/pki')],
    ['--socket', at('run/agent.sock'), '--rotate-certificates'],
  ].flat()
  return {
    in: at,
    kubeletKubeconfig: at('kubelet.conf'),
    adminKubeconfig: at('server/admin.kubeconfig'),
    socket: at('run/agent.sock'),
    server,
    startAgent(more = []) {
      const agent = startRollcall(['agent', ...flags, ...always, ...more], environment)
      running.add(agent)
      return agent
    },
    stop,
  }
}
