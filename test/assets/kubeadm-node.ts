/**
 * kubeadm's folder with the programs of the assets in it: who reads the manifests here is no kubelet but this file, which starts
 * what a manifest says, and starts it anew when the manifest is another. Images and a runtime are not needed for that.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeKubeconfig } from '../../src/kube/encode-kubeconfig.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import { connectionOf } from '../support/api-connection.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { supervise } from '../support/manifest-supervisor.ts'
import { type Program, programPath } from './folder.ts'
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

type Component = 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler'

/** What runs as the components. */
export interface Programs {
  components: readonly Component[]
  /** Words of a command before its flags. */
  words: readonly string[]
  start(component: string, command: readonly string[], log: number): ChildProcess
  /** Where kube-apiserver keeps its objects. */
  storage(folder: string): Promise<{ flags: Record<string, string>; stop(): Promise<void> }>
}

/** Those of the assets, which have no scheduler. */
export const realPrograms: Programs = {
  components: ['kube-apiserver', 'kube-controller-manager'],
  words: [],
  start: (component, [, ...flags], log) =>
    spawn(programPath(component as Program), flags, { stdio: ['ignore', log, log] }),
  async storage(folder) {
    const { url, program } = await startEtcd(folder)
    return { flags: { 'etcd-servers': url }, stop: () => program.stop() }
  },
}

export async function kubeadmNode(folder: string, programs: Programs = realPrograms): Promise<KubeadmNode> {
  const root = join(folder, 'kubernetes')
  mkdirSync(join(root, 'manifests'), { recursive: true })
  const pki = await createPki(join(root, 'pki'))
  const storage = await programs.storage(folder)
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
  await conf('scheduler', 'system:kube-scheduler')
  const file = (name: string) => pki.file(name)
  const flags: Record<Component, Record<string, string>> = {
    'kube-apiserver': {
      'advertise-address': '127.0.0.1',
      'bind-address': '127.0.0.1',
      'secure-port': `${port}`,
      ...storage.flags,
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
    'kube-scheduler': {
      kubeconfig: join(root, 'scheduler.conf'),
      'bind-address': '127.0.0.1',
      'secure-port': `${await freePort()}`,
      'leader-elect': 'false',
    },
  }
  const { components, words, start } = programs
  for (const component of components) writeManifest(root, component, words, flags[component])
  const supervisor = supervise({ root, logs: folder, components, start })
  const stop = async () => {
    await supervisor.stop()
    await storage.stop()
  }
  await eventually('kube-apiserver is ready', async () => {
    const transport = connectUndici(await connectionOf(join(root, 'admin.conf')))
    try {
      return (await transport.request({ method: 'GET', url: '/readyz', headers: {} })).status === 200
    } catch {
      return false
    } finally {
      transport.closeConnections()
    }
  }).catch(async error => {
    await stop()
    throw error
  })
  return {
    root,
    url,
    port,
    pki,
    starts: supervisor.starts,
    stop,
  }
}

function writeManifest(
  root: string,
  component: Component,
  words: readonly string[],
  flags: Record<string, string>,
): void {
  const given = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const lines = [component, ...words, ...given].map(word => `    - ${word}`)
  const text = `apiVersion: v1
kind: Pod
metadata:
  name: ${component}
  namespace: kube-system
spec:
  containers:
  - command:
${lines.join('\n')}
    name: ${component}
  hostNetwork: true
`
  writeFileSync(join(root, 'manifests', `${component}.yaml`), text, { mode: 0o600 })
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
