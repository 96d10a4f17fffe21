/** etcd and kube-apiserver of the folder, as kubeadm sets them up: Node and RBAC, NodeRestriction, bootstrap tokens. */
import { join } from 'node:path'
import { kubeadmBindings } from '../../src/cluster/seed-objects.ts'
import { createClient, type KubeClient } from '../../src/kube/client.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import type { ServerUnderTest } from '../conformance/server-under-test.ts'
import { connectionOf } from '../support/api-connection.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryFolder } from '../support/rollcall-process.ts'
import { createPki, type TestPki } from './pki.ts'
import { type RunningProgram, startProgram } from './program.ts'

export interface KubeApiserver extends ServerUnderTest {
  folder: string
  pki: TestPki
  adminKubeconfig: string
  admin: KubeClient
}

/** Service accounts get no default one here, so pods are admitted without. */
const plugins = {
  'enable-admission-plugins': 'NodeRestriction',
  'disable-admission-plugins': 'ServiceAccount',
}

/** On free ports of loopback, with a data folder of its own, and kubeadm's bindings in it. */
export async function startKubeApiserver(): Promise<KubeApiserver> {
  const folder = temporaryFolder()
  const running: RunningProgram[] = []
  const closers: (() => void)[] = []
  const stop = async () => {
    for (const close of closers) close()
    for (const program of running.toReversed()) await program.stop()
    folder.remove()
  }
  try {
    const pki = await createPki(join(folder.path, 'pki'))
    const etcd = await startEtcd(folder.path)
    running.push(etcd.program)
    const port = await freePort()
    const url = `https://127.0.0.1:${port}`
    const masters = await pki.kubeconfig('super-admin', url, 'kubernetes-super-admin', ['system:masters'])
    const adminKubeconfig = await pki.kubeconfig('admin', url, 'kubernetes-admin', ['kubeadm:cluster-admins'])
    const first = connectUndici(await connectionOf(masters))
    closers.push(() => first.closeConnections())
    const ready = async () => {
      const { status } = await first.request({ method: 'GET', url: '/readyz', headers: {} })
      return status === 200
    }
    running.push(
      await startProgram('kube-apiserver', {
        flags: flagsOf(pki, etcd.url, port),
        logFile: join(folder.path, 'kube-apiserver.log'),
        isReady: ready,
      }),
    )
    const bootstrap = createClient(first)
    for (const { resource, object } of kubeadmBindings()) await bootstrap.create(resource, object)
    const config = await connectionOf(adminKubeconfig)
    const transport = connectUndici(config)
    closers.push(() => transport.closeConnections())
    if (!config.clientCertificate) throw new TypeError('the administrator has no certificate')
    return {
      name: 'kube-apiserver',
      url,
      ca: pki.ca.pem,
      adminCredential: config.clientCertificate,
      folder: folder.path,
      pki,
      adminKubeconfig,
      admin: createClient(transport),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
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
      'unsafe-no-fsync': 'true',
    },
    logFile: join(folder, 'etcd.log'),
    isReady: async () => (await fetch(`${url}/health`)).ok,
  })
  return { program, url }
}

function flagsOf(pki: TestPki, etcd: string, port: number): Record<string, string> {
  return {
    'etcd-servers': etcd,
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'secure-port': String(port),
    'tls-cert-file': pki.file('apiserver.crt'),
    'tls-private-key-file': pki.file('apiserver.key'),
    'client-ca-file': pki.file('ca.crt'),
    'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
    'service-account-key-file': pki.file('sa.pub'),
    'service-account-signing-key-file': pki.file('sa.key'),
    'service-cluster-ip-range': '10.96.0.0/16',
    'authorization-mode': 'Node,RBAC',
    'enable-bootstrap-token-auth': 'true',
    'allow-privileged': 'true',
    'kubelet-client-certificate': pki.file('apiserver-kubelet-client.crt'),
    'kubelet-client-key': pki.file('apiserver-kubelet-client.key'),
    'kubelet-certificate-authority': pki.file('ca.crt'),
    'kubelet-preferred-address-types': 'InternalIP,ExternalIP,Hostname',
    // T-1: served by ours, behind a gate there.
    'feature-gates': 'ClusterTrustBundle=true',
    'runtime-config': 'certificates.k8s.io/v1beta1=true',
    ...plugins,
  }
}
