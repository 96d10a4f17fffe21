/** The controllers in the order of a certificate's life; `--only` takes these names. */
export const controllerNames = [
  'approval',
  'signing',
  'cleaning',
  'root-ca-publishing',
  'token-cleaning',
  'bootstrap-signing',
  'service-accounts',
  'node-lifecycle',
] as const

export type ControllerName = (typeof controllerNames)[number]

/** C-1: what kube-controller-manager calls its own that do the same, with their short names. */
const kubernetesNames: Readonly<Record<string, ControllerName>> = {
  'certificatesigningrequest-approving-controller': 'approval',
  csrapproving: 'approval',
  'certificatesigningrequest-signing-controller': 'signing',
  csrsigning: 'signing',
  'certificatesigningrequest-cleaner-controller': 'cleaning',
  csrcleaner: 'cleaning',
  'root-ca-certificate-publisher-controller': 'root-ca-publishing',
  'root-ca-cert-publisher': 'root-ca-publishing',
  'token-cleaner-controller': 'token-cleaning',
  tokencleaner: 'token-cleaning',
  'bootstrap-signer-controller': 'bootstrap-signing',
  bootstrapsigner: 'bootstrap-signing',
}

/** The controller of this name, which may be Kubernetes' name of it; undefined: there is none. */
export function controllerNamed(text: string): ControllerName | undefined {
  const own = controllerNames.find(name => name === text)
  return own ?? (Object.hasOwn(kubernetesNames, text) ? kubernetesNames[text] : undefined)
}

/** What only a cluster without kube-controller-manager needs. */
const managersOwn: readonly ControllerName[] = ['service-accounts', 'node-lifecycle']

/** What `rollcall controller` runs unless told. */
export const clusterControllers: readonly ControllerName[] = controllerNames.filter(
  name => !managersOwn.includes(name),
)
