/** The controllers in the order of a certificate's life; `--only` takes these names. */
export const controllerNames = [
  'approval',
  'signing',
  'cleaning',
  'root-ca-publishing',
  'token-cleaning',
  'bootstrap-signing',
  'service-accounts',
] as const

export type ControllerName = (typeof controllerNames)[number]

/** What `rollcall controller` runs unless told: kube-controller-manager makes the default service accounts itself. */
export const clusterControllers: readonly ControllerName[] = controllerNames.filter(
  name => name !== 'service-accounts',
)
