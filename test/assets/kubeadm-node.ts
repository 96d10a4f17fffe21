/**
 * kubeadm's folder with the programs of the assets in it: who reads the manifests here is no kubelet but this file, which starts
 * what a manifest says, and starts it anew when the manifest is another. Images and a runtime are not needed for that.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest } from '../../src/agent/control-plane/static-pod-manifest.ts'
import { encodeKubeconfig } from '../../src/kube/encode-kubeconfig.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import { connectionOf } from '../support/api-connection.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { programPath } from './folder.ts'
import { createPki, type TestPki } from './pki.ts'
import { type RunningProgram, startProgram } from './program.ts'

export interface KubeadmNode {
  /** In the place of /etc/kubernetes. */
  root: string
  url: string
  port: number
  pki: TestPki
  /** Times that each component was started. */
  starts: Record<string, number>
  stop(): Promise<void>
}

const components = ['kube-apiserver', 'kube-controller-manager'] as const
type Component = (typeof components)[number]

export async function kubeadmNode(folder: string): Promise<KubeadmNode> {
  const root = join(folder, 'kubernetes')
  mkdirSync(join(root, 'manifests'), { recursive: true })
  const pki = await createPki(join(root, 'pki'))
  const etcd = await startEtcd(folder)
  const port = await freePort()
  const url = `https://127.0.0.1:${port}`
  const conf = async (name: string, user: string, ...organizations: string[]) => {
    const pair = await pki.issue(`${name}-client`, user, organizations)
    const text = encodeKubeconfig({
      server: url,
      certificateAuthority: { pem: pki.ca.pem },
      user: { clientCertificate: { pem: pair.certificate }, clientKey: { pem: pair.key } },
    })
    writeFileSync(join(root, `${name}.conf`), text.reveal(), { mode: 0o600 })
  }
  await conf('admin', 'kubernetes-admin', 'system:masters')
  await conf('controller-manager', 'system:kube-controller-manager', 'system:masters')
  const file = (name: string) => pki.file(name)
  const flags: Record<Component, Record<string, string>> = {
    'kube-apiserver': {
      'advertise-address': '127.0.0.1',
      'bind-address': '127.0.0.1',
      'secure-port': `${port}`,
      'etcd-servers': etcd.url,
      'authorization-mode': 'Node,RBAC',
      'enable-bootstrap-token-auth': 'true',
      'enable-admission-plugins': 'NodeRestriction',
      'client-ca-file': file('ca.crt'),
      'tls-cert-file': file('apiserver.crt'),
      'tls-private-key-file': file('apiserver.key'),
      'kubelet-client-certificate': file('apiserver-kubelet-client.crt'),
      'kubelet-client-key': file('apiserver-kubelet-client.key'),
      'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
      'service-account-key-file': file('sa.pub'),
      'service-account-signing-key-file': file('sa.key'),
      'service-cluster-ip-range': '10.96.0.0/16',
    },
    'kube-controller-manager': {
      kubeconfig: join(root, 'controller-manager.conf'),
      'authentication-kubeconfig': join(root, 'controller-manager.conf'),
      'authorization-kubeconfig': join(root, 'controller-manager.conf'),
      'bind-address': '127.0.0.1',
      'secure-port': `${await freePort()}`,
      'client-ca-file': file('ca.crt'),
      'root-ca-file': file('ca.crt'),
      'cluster-signing-cert-file': file('ca.crt'),
      'cluster-signing-key-file': file('ca.key'),
      'service-account-private-key-file': file('sa.key'),
      controllers: '*,bootstrapsigner,tokencleaner,-csrapproving',
      'leader-elect': 'false',
    },
  }
  for (const component of components) writeManifest(root, component, flags[component])
  const supervisor = supervise(root, folder)
  await eventually('kube-apiserver is ready', async () => {
    const transport = connectUndici(await connectionOf(join(root, 'admin.conf')))
    try {
      return (await transport.request({ method: 'GET', url: '/readyz', headers: {} })).status === 200
    } catch {
      return false
    } finally {
      transport.closeConnections()
    }
  })
  return {
    root,
    url,
    port,
    pki,
    starts: supervisor.starts,
    async stop() {
      await supervisor.stop()
      await etcd.program.stop()
    },
  }
}

function writeManifest(root: string, component: Component, flags: Record<string, string>): void {
  const words = Object.entries(flags).map(([name, value]) => `    - --${name}=${value}`)
  const text = `apiVersion: v1
kind: Pod
metadata:
  name: ${component}
  namespace: kube-system
spec:
  containers:
  - command:
    - ${component}
${words.join('\n')}
    name: ${component}
  hostNetwork: true
`
  writeFileSync(join(root, 'manifests', `${component}.yaml`), text, { mode: 0o600 })
}

function supervise(root: string, folder: string) {
  const running = new Map<Component, { manifest: string; child: ChildProcess; ended: Promise<void> }>()
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
      const log = openSync(join(folder, `${component}.log`), 'a')
      const [, ...flags] = readManifest(manifest, path).command
      const child = spawn(programPath(component), flags, { stdio: ['ignore', log, log] })
      const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
      starts[component] = (starts[component] ?? 0) + 1
      running.set(component, { manifest, child, ended })
    }
  }

  const timer = setInterval(() => {
    looking = looking.then(look)
  }, 500)
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

async function startEtcd(folder: string): Promise<{ program: RunningProgram; url: string }> {
  const [clients, peers] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${clients}`
  const peer = `http://127.0.0.1:${peers}`
  const program = await startProgram('etcd', {
    flags: {
      name: 'default',
      'data-dir': join(folder, 'etcd'),
      'listen-client-urls': url,
      'advertise-client-urls': url,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
    },
    logFile: join(folder, 'etcd.log'),
    isReady: async () => (await fetch(`${url}/health`)).ok,
  })
  return { program, url }
}
