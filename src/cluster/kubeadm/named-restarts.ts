/** What a rotation will start anew on each control-plane node, at most, told before it begins. */
import type {
  ControlPlaneComponent,
  ControlPlaneReport,
  ControlPlaneRole,
} from '../../trust/control-plane-report.ts'

export type Restarts = Readonly<Record<ControlPlaneComponent, number>>

/**
 * kube-apiserver reads CAs and pairs again (2.2, 16), so that only its flags cost a restart, at the first rotation of a role.
 * kube-controller-manager and kube-scheduler read their kubeconfigs, and the first its root CA and signing files by flag, once.
 */
export function namedRestarts(role: ControlPlaneRole, report: ControlPlaneReport | undefined): Restarts {
  const isFirst = report?.roles[role] === undefined
  return role === 'client'
    ? {
        'kube-apiserver': isFirst ? 1 : 0,
        // Its --client-ca-file, the CA it signs with, its certificate.
        'kube-controller-manager': isFirst ? 3 : 2,
        'kube-scheduler': 1,
      }
    : {
        'kube-apiserver': isFirst ? 1 : 0,
        // With both CAs, and without the old one.
        'kube-controller-manager': 2,
        'kube-scheduler': 2,
      }
}

/** `cp-1: kube-apiserver once, kube-controller-manager 3 times`. */
export function restartsSentence(name: string, restarts: Restarts): string {
  const told = Object.entries(restarts).filter(([, times]) => times > 0)
  const parts = told.map(([component, times]) => `${component} ${times === 1 ? 'once' : `${times} times`}`)
  return `${name}: ${parts.join(', ') || 'nothing'}`
}
