import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { systemRpc } from '../../src/host/rpc.ts'
import { systemSpawn } from '../../src/host/spawn.ts'
import { type Cri, createCri } from '../../src/pods/cri/cri.ts'
import type { PodSandbox } from '../../src/pods/cri/cri-types.ts'
import { labels, podOfSandbox } from '../../src/pods/cri/labels.ts'
import { removeCgroup } from '../../src/pods/cri/pod-cgroup.ts'
import { endLeftovers, removeCgroups, unmountBelow } from './containerd-leftovers.ts'
import { eventually } from './eventually.ts'
import { busyboxImage, pauseImage, rollcallImage } from './oci-image.ts'
import { temporaryFolder } from './rollcall-process.ts'

export const busybox = 'localhost/rollcall-test/busybox:1'
/** The image of the examples. */
const rollcall = 'localhost/rollcall:0.1.0'
const pause = 'localhost/rollcall-test/pause:1'

/** Why no containerd can be run here; false: it can. */
export const noContainerd: string | false =
  process.getuid?.() !== 0
    ? 'needs root'
    : (['/usr/bin/containerd', '/usr/bin/ctr', '/usr/sbin/runc', '/usr/bin/busybox']
        .filter(path => !existsSync(path))
        .map(path => `needs ${path} (Debian: containerd, runc, busybox-static)`)[0] ?? false)

/** A containerd of its own: root, state and socket in a folder; nothing of the machine's own is touched. */
const config = (folder: string) => `version = 2
root = "${folder}/root"
state = "${folder}/run"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "${folder}/c.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pause}"
  disable_tcp_service = true
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${folder}/cni/bin"
    conf_dir = "${folder}/cni/net.d"
`

export interface Containerd {
  endpoint: string
  cri: Cri
  /** Where it looks for plugins of the pods' network, and for its configuration; both empty. */
  network: { plugins: string; configuration: string }
  /** Ends the daemon; containers go on. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Has the daemon hang while `run` is under way. */
  whileItHangs(run: () => Promise<void>): Promise<void>
  /** Busybox by another name. */
  importBusybox(name: string): Promise<void>
  /** Node.js and this package; takes longer, so only where it is needed. */
  importRollcall(): Promise<void>
  /** Ids of the pods of the agents with this state folder, as the runtime has them. */
  podsOf(stateDirectory: string): Promise<string[]>
  /** Ends and removes the pods of the agents with this state folder. */
  clear(stateDirectory: string): Promise<void>
  /** Ends all containers and the daemon, and removes all that they left on this machine. */
  close(): Promise<void>
}

export async function startContainerd(): Promise<Containerd> {
  const folder = temporaryFolder()
  const socket = join(folder.path, 'c.sock')
  const endpoint = `unix://${socket}`
  mkdirSync(join(folder.path, 'etc'))
  const configPath = join(folder.path, 'etc/config.toml')
  writeFileSync(configPath, config(folder.path))
  const cri = createCri(await systemRpc(endpoint), endpoint)
  let child: ReturnType<typeof spawn> | undefined
  const removeAll = () => {
    child?.kill('SIGKILL')
    endLeftovers(folder.path)
    folder.remove()
    removeCgroups()
  }
  process.once('exit', removeAll)
  const containerd: Containerd = {
    endpoint,
    cri,
    network: { plugins: join(folder.path, 'cni/bin'), configuration: join(folder.path, 'cni/net.d') },
    async start() {
      const log = openSync(join(folder.path, 'containerd.log'), 'a')
      child = spawn('/usr/bin/containerd', ['-c', configPath], {
        stdio: ['ignore', log, log],
        detached: true,
      })
      closeSync(log)
      await eventually('containerd answers', () => cri.version().catch(() => undefined))
    },
    async stop() {
      const ended = new Promise(resolve => child?.once('exit', resolve))
      child?.kill('SIGTERM')
      await ended
    },
    async whileItHangs(run) {
      child?.kill('SIGSTOP')
      await run().finally(() => child?.kill('SIGCONT'))
    },
    importBusybox: name => importImage('more', busyboxImage(name)),
    importRollcall: () => importImage('rollcall', rollcallImage(rollcall)),
    async podsOf(stateDirectory) {
      const all = await cri.listPodSandbox()
      return all.filter(({ labels: of }) => of[labels.agent] === stateDirectory).map(({ id }) => id)
    },
    async clear(stateDirectory) {
      await removePods(cri, ({ labels: of }) => of[labels.agent] === stateDirectory)
      unmountBelow(stateDirectory)
    },
    async close() {
      if (child?.exitCode !== null) await containerd.start()
      await removePods(cri, () => true)
      await containerd.stop()
      cri.close()
      process.off('exit', removeAll)
      removeAll()
    },
  }
  const importImage = async (name: string, image: Buffer) => {
    const path = join(folder.path, `${name}.tar`)
    writeFileSync(path, image)
    const { code, stderr } = await systemSpawn.run({
      command: '/usr/bin/ctr',
      args: ['-a', socket, '-n', 'k8s.io', 'images', 'import', path],
      environment: {},
      directory: '/',
      mostOutput: 10_000,
    })
    if (code !== 0) throw new Error(`ctr images import: ${Buffer.from(stderr).toString()}`)
  }
  await containerd.start()
  await Promise.all([importImage('pause', pauseImage(pause)), importImage('busybox', busyboxImage(busybox))])
  return containerd
}

async function removePods(cri: Cri, which: (sandbox: PodSandbox) => boolean): Promise<void> {
  const sandboxes = (await cri.listPodSandbox()).filter(which)
  for (const { id } of sandboxes) {
    // As a kubelet: containerd refuses while a shim of its own ends ("ttrpc: closed"), and does it when asked again.
    let refusal: unknown
    await eventually(`sandbox ${id} is gone`, async () => {
      try {
        await cri.stopPodSandbox(id)
        await cri.removePodSandbox(id)
        return true
      } catch (error) {
        refusal = error
        return false
      }
    }).catch(error => {
      throw new Error(error.message, { cause: refusal })
    })
  }
  for (const sandbox of sandboxes) {
    const pod = podOfSandbox(sandbox.annotations)
    if (pod) await removeCgroup(pod, hostPorts.disk)
  }
}
