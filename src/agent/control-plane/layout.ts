/** Where kubeadm keeps what a control plane is made of, and where the agent keeps its own beside it. */
import { posix } from 'node:path'
import type { KeyId } from '../../trust/control-plane-orders.ts'
import type { ControlPlaneComponent, ControlPlaneRole } from '../../trust/control-plane-report.ts'

export interface Layout {
  /** kubeadm's CA, the first of every role. */
  firstAuthority: { certificate: string; key: string }
  /** kubeadm's serving pair of the API server. */
  firstServing: { certificate: string; key: string }
  manifest(component: ControlPlaneComponent): string
  /** Kubeconfigs on this node that hold a client certificate and the CA of the API server. */
  kubeconfigs: readonly string[]
  /** The kubeconfig that a component reads when it starts. */
  kubeconfigOf: Readonly<Partial<Record<ControlPlaneComponent, string>>>
  /** Folder of all that follows. In kubeadm's own, which its static pods mount. */
  own: string
  clientAuthorities: string
  servingAuthorities: string
  serving: { certificate: string; key: string }
  /** One for each chain that is shown to who asks for it by name. */
  probe(slot: number): { certificate: string; key: string }
  kubeletClient: { certificate: string; key: string }
  authority(role: ControlPlaneRole, id: KeyId): { certificate: string; key: string }
}

/** `root`: `/etc/kubernetes`. */
export function layoutOf(root: string): Layout {
  const at = (...names: string[]) => posix.join(root, ...names)
  const own = at('pki', 'rollcall')
  const pair = (name: string) => ({ certificate: `${own}/${name}.crt`, key: `${own}/${name}.key` })
  return {
    firstAuthority: { certificate: at('pki', 'ca.crt'), key: at('pki', 'ca.key') },
    firstServing: { certificate: at('pki', 'apiserver.crt'), key: at('pki', 'apiserver.key') },
    manifest: component => at('manifests', `${component}.yaml`),
    kubeconfigs: ['admin.conf', 'super-admin.conf', 'controller-manager.conf', 'scheduler.conf'].map(name =>
      at(name),
    ),
    kubeconfigOf: {
      'kube-controller-manager': at('controller-manager.conf'),
      'kube-scheduler': at('scheduler.conf'),
    },
    own,
    clientAuthorities: `${own}/client-ca.crt`,
    servingAuthorities: `${own}/apiserver-ca.crt`,
    serving: pair('apiserver'),
    probe: slot => pair(`apiserver-probe-${slot}`),
    kubeletClient: pair('apiserver-kubelet-client'),
    authority: (role, id) => pair(`ca-${role}-${id}`),
  }
}
