/** Writes deploy/admission: the admission policies that Rollcall ships, for a cluster that is not our own. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { fourEyes } from '../src/kube/admission/four-eyes.ts'
import { rotationWriters } from '../src/kube/admission/rotation-writers.ts'
import {
  certificatePolicyWriters,
  nodeAddressProtection,
  nodeAddressWriter,
} from '../src/kube/admission/shipped.ts'

export const folder = new URL('../deploy/admission/', import.meta.url)

const yaml = (comment: string, ...objects: object[]) =>
  `${comment.replace(/^/gm, '# ')}\n${objects.map(object => stringify(object, { lineWidth: 0 })).join('---\n')}`

/** By file name. */
export const files: Readonly<Record<string, string>> = {
  'certificate-policy-writers.yaml': yaml(
    'Who writes CertificatePolicies needs the right to approve for the signers of kubelets.\nMade by scripts/admission-policies.ts from src/kube/admission/shipped.ts.',
    certificatePolicyWriters.policy,
    certificatePolicyWriters.binding,
  ),
  'ca-rotation-writers.yaml': yaml(
    'Who writes a CARotation needs the right to sign with that CA, and speaks in his own name.\nMade by scripts/admission-policies.ts from src/kube/admission/rotation-writers.ts.',
    rotationWriters.policy,
    rotationWriters.binding,
  ),
  'four-eyes.yaml': yaml(
    'A held request is approved by others than who made it; where a policy says approvers: 2, by two different people.\nMade by scripts/admission-policies.ts from src/kube/admission/four-eyes.ts.',
    fourEyes.policy,
    fourEyes.binding,
  ),
  'protect-node-addresses.yaml': yaml(
    `status.addresses of Nodes change by the hand of a cloud controller or an operator only; evidence ProtectedNodeStatus
counts while this is in force, unchanged. Bind ClusterRole ${nodeAddressWriter.metadata.name} to the user of the cloud
controller first. Kubelets must run with --cloud-provider=external and without --node-ip: one that writes its own
addresses cannot update its status any more.
Made by scripts/admission-policies.ts from src/kube/admission/shipped.ts.`,
    nodeAddressWriter,
    nodeAddressProtection.policy,
    nodeAddressProtection.binding,
  ),
}

if (import.meta.main) {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(new URL(name, folder), text)
}
