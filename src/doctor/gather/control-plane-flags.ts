/** How the programs of the control plane were started, where they are pods (kubeadm's static pods are shown as such). */
import { type KubeClient, listAll } from '../../kube/client.ts'
import { type KubeObject, resources } from '../../kube/types.ts'
import type { ControlPlaneProgram } from '../artifacts/cluster-artifacts.ts'

interface ControlPlanePod extends KubeObject {
  spec?: { containers?: { name?: string; command?: string[]; args?: string[] }[] }
}

const programs = ['kube-apiserver', 'kube-controller-manager'] as const

/** Flags that say what is done with certificates; the others are left where they are. */
const looked: ReadonlySet<string> = new Set([
  'authorization-mode',
  'client-ca-file',
  'cluster-signing-cert-file',
  'cluster-signing-duration',
  'cluster-signing-key-file',
  'controllers',
  'enable-bootstrap-token-auth',
  'kubelet-certificate-authority',
  'kubelet-client-certificate',
])

/** Empty where the control plane is no pods, e.g. that of a provider. */
export async function listControlPlanePrograms(client: KubeClient): Promise<ControlPlaneProgram[]> {
  const { items } = await listAll<ControlPlanePod>(client, resources.pods, {
    namespace: 'kube-system',
    labelSelector: 'tier=control-plane',
  })
  return items.flatMap(({ metadata, spec }) =>
    programs.flatMap(program => {
      const container = spec?.containers?.find(({ name }) => name === program)
      if (!container) return []
      const flags = flagsOf([...(container.command ?? []), ...(container.args ?? [])])
      return [{ program, pod: metadata.name, flags }]
    }),
  )
}

function flagsOf(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.flatMap(word => {
      const [, name = '', value = 'true'] = /^--([a-z0-9-]+)(?:=(.*))?$/s.exec(word) ?? []
      return looked.has(name) ? [[name, value]] : []
    }),
  )
}
