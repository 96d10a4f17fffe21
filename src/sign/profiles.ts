import type { Profile } from './profile.ts'
import { apiserverClient } from './profiles/apiserver-client.ts'
import { kubeletClient } from './profiles/kubelet-client.ts'
import { kubeletServing } from './profiles/kubelet-serving.ts'
import { legacyUnknown } from './profiles/legacy-unknown.ts'

const profiles: readonly Profile[] = [kubeletServing, kubeletClient, apiserverClient, legacyUnknown]

/** C-20: the profile of each of Kubernetes' four signers; undefined for a signer that is not ours. */
export function profileOf(signerName: string): Profile | undefined {
  return profiles.find(profile => profile.signerName === signerName)
}
