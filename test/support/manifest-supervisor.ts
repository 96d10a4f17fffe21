/** In the place of a kubelet: starts what the manifests in a folder say, and starts it anew when one says something else. */
import type { ChildProcess } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest } from '../../src/agent/control-plane/static-pod-manifest.ts'

export interface SuperviseOptions {
  /** Manifests are in `root`/manifests, named COMPONENT.yaml. */
  root: string
  /** For what the programs print: COMPONENT.log. */
  logs: string
  components: readonly string[]
  /** `command`: the whole of it, as the manifest says; `log`: where it prints to. */
  start(component: string, command: readonly string[], log: number): ChildProcess
}

export interface Supervisor {
  /** Times that each component was started. */
  starts: Record<string, number>
  stop(): Promise<void>
}

export function supervise({ root, logs, components, start }: SuperviseOptions): Supervisor {
  const running = new Map<string, { manifest: string; child: ChildProcess; ended: Promise<void> }>()
  const starts: Record<string, number> = Object.fromEntries(components.map(name => [name, 0]))
  let stopped = false
  let looking: Promise<void> = Promise.resolve()

  async function look(): Promise<void> {
    for (const component of components) {
      const path = join(root, 'manifests', `${component}.yaml`)
      const manifest = readFileSync(path, 'utf8')
      const known = running.get(component)
      if (stopped || known?.manifest === manifest) continue
      known?.child.kill('SIGTERM')
      await known?.ended
      const log = openSync(join(logs, `${component}.log`), 'a')
      const child = start(component, readManifest(manifest, path).command, log)
      const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
      starts[component] = (starts[component] ?? 0) + 1
      running.set(component, { manifest, child, ended })
    }
  }

  const timer = setInterval(() => {
    looking = looking.then(look)
  }, 200)
  looking = looking.then(look)
  return {
    starts,
    async stop() {
      stopped = true
      clearInterval(timer)
      await looking
      for (const { child } of running.values()) child.kill('SIGTERM')
      await Promise.all([...running.values()].map(({ ended }) => ended))
    },
  }
}
