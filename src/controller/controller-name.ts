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

/** What only a cluster without kube-controller-manager needs. */
const managersOwn: readonly ControllerName[] = ['service-accounts', 'node-lifecycle']

/** What `rollcall controller` runs unless told. */
export const clusterControllers: readonly ControllerName[] = controllerNames.filter(
  name => !managersOwn.includes(name),
)
