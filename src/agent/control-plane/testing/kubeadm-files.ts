/** What kubeadm leaves on a control-plane node, in its own words, made with our own X.509. */
import { keyIdentifier } from '../../../keys/self-signed.ts'
import type { Random } from '../../../ports.ts'
import type { Authority } from '../../../sign/authority.ts'
import { parseIp } from '../../../x509/ip.ts'
import { nameOf } from '../../../x509/name.ts'
import { issueLocally } from '../local-pairs.ts'

export interface KubeadmNode {
  name: string
  /** Its InternalIP. */
  address: string
  ca: Authority & { pem: string; keyPem: string }
  now: number
  random: Random
}

/** Path below /etc/kubernetes to text; secrets and kubeconfigs are 0600. */
export async function kubeadmFiles(node: KubeadmNode): Promise<Record<string, string>> {
  const { name, address, ca, now, random } = node
  const ipAddresses = [address, '10.96.0.1'].map(text => parseIp(text) ?? new Uint8Array())
  const serving = await issueLocally(
    ca,
    {
      subject: nameOf({ commonName: 'kube-apiserver' }),
      usage: 'serverAuth',
      dnsNames: ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', name],
      ipAddresses,
    },
    { now, random },
  )
  const client = (commonName: string, ...organizations: string[]) =>
    issueLocally(ca, { subject: nameOf({ commonName, organizations }), usage: 'clientAuth' }, { now, random })
  const kubelet = await client('kube-apiserver-kubelet-client', 'kubeadm:cluster-admins')
  const server = `https://${address}:6443`
  const config = async (user: string, ...organizations: string[]) => {
    const { certificate, key } = await client(user, ...organizations)
    return kubeconfig(user, server, ca.pem, certificate, key.reveal())
  }
  return {
    'pki/ca.crt': ca.pem,
    'pki/ca.key': ca.keyPem,
    'pki/apiserver.crt': serving.certificate,
    'pki/apiserver.key': serving.key.reveal(),
    'pki/apiserver-kubelet-client.crt': kubelet.certificate,
    'pki/apiserver-kubelet-client.key': kubelet.key.reveal(),
    'admin.conf': await config('kubernetes-admin', 'kubeadm:cluster-admins'),
    'super-admin.conf': await config('kubernetes-super-admin', 'system:masters'),
    'controller-manager.conf': await config('system:kube-controller-manager'),
    'scheduler.conf': await config('system:kube-scheduler'),
    'manifests/kube-apiserver.yaml': manifest('kube-apiserver', [
      `--advertise-address=${address}`,
      '--allow-privileged=true',
      '--authorization-mode=Node,RBAC',
      '--client-ca-file=/etc/kubernetes/pki/ca.crt',
      '--enable-admission-plugins=NodeRestriction',
      '--kubelet-client-certificate=/etc/kubernetes/pki/apiserver-kubelet-client.crt',
      '--kubelet-client-key=/etc/kubernetes/pki/apiserver-kubelet-client.key',
      '--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname',
      '--secure-port=6443',
      '--service-account-key-file=/etc/kubernetes/pki/sa.pub',
      '--service-account-signing-key-file=/etc/kubernetes/pki/sa.key',
      '--tls-cert-file=/etc/kubernetes/pki/apiserver.crt',
      '--tls-private-key-file=/etc/kubernetes/pki/apiserver.key',
    ]),
    'manifests/kube-controller-manager.yaml': manifest('kube-controller-manager', [
      '--authentication-kubeconfig=/etc/kubernetes/controller-manager.conf',
      '--bind-address=127.0.0.1',
      '--client-ca-file=/etc/kubernetes/pki/ca.crt',
      '--cluster-signing-cert-file=/etc/kubernetes/pki/ca.crt',
      '--cluster-signing-key-file=/etc/kubernetes/pki/ca.key',
      '--controllers=*,bootstrapsigner,tokencleaner',
      '--kubeconfig=/etc/kubernetes/controller-manager.conf',
      '--leader-elect=true',
      '--root-ca-file=/etc/kubernetes/pki/ca.crt',
      '--service-account-private-key-file=/etc/kubernetes/pki/sa.key',
      '--use-service-account-credentials=true',
    ]),
    'manifests/kube-scheduler.yaml': manifest('kube-scheduler', [
      '--authentication-kubeconfig=/etc/kubernetes/scheduler.conf',
      '--bind-address=127.0.0.1',
      '--kubeconfig=/etc/kubernetes/scheduler.conf',
      '--leader-elect=true',
    ]),
  }
}

/** The identifier by which orders name a CA. */
export function idOf({ signer }: Pick<Authority, 'signer'>): string {
  return Buffer.from(keyIdentifier(signer.publicKey)).toString('hex')
}

function manifest(component: string, flags: readonly string[]): string {
  return `apiVersion: v1
kind: Pod
metadata:
  annotations:
    kubeadm.kubernetes.io/${component}.advertise-address.endpoint: 192.0.2.11:6443
  labels:
    component: ${component}
    tier: control-plane
  name: ${component}
  namespace: kube-system
spec:
  containers:
  - command:
    - ${component}
${flags.map(flag => `    - ${flag}`).join('\n')}
    image: registry.k8s.io/${component}:v1.36.0
    name: ${component}
    volumeMounts:
    - mountPath: /etc/kubernetes/pki
      name: k8s-certs
      readOnly: true
  hostNetwork: true
  priorityClassName: system-node-critical
  volumes:
  - hostPath:
      path: /etc/kubernetes/pki
      type: DirectoryOrCreate
    name: k8s-certs
status: {}
`
}

function kubeconfig(user: string, server: string, ca: string, certificate: string, key: string): string {
  const data = (text: string) => Buffer.from(text).toString('base64')
  return `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${data(ca)}
    server: ${server}
  name: kubernetes
contexts:
- context:
    cluster: kubernetes
    user: ${user}
  name: ${user}@kubernetes
current-context: ${user}@kubernetes
kind: Config
preferences: {}
users:
- name: ${user}
  user:
    client-certificate-data: ${data(certificate)}
    client-key-data: ${data(key)}
`
}
