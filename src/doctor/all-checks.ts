/** Every check, in the order of their ids. Adding one is a file in checks/ and a line here. */
import type { Check } from './check.ts'
import { a01 } from './checks/a01-bootstrap-token-expired.ts'
import { a02 } from './checks/a02-token-secret-differs.ts'
import { a03 } from './checks/a03-token-id-mismatch.ts'
import { a04 } from './checks/a04-token-not-for-authentication.ts'
import { a05 } from './checks/a05-token-secret-type.ts'
import { a06 } from './checks/a06-token-group.ts'
import { a07 } from './checks/a07-token-authenticator-off.ts'
import { a08 } from './checks/a08-cluster-info-unsigned.ts'
import { a09 } from './checks/a09-pin-mismatch.ts'
import { a10 } from './checks/a10-no-credential-left.ts'
import { a11 } from './checks/a11-bootstrap-ca-stale.ts'
import { a12 } from './checks/a12-api-unreachable.ts'
import { a13 } from './checks/a13-api-certificate-lacks-name.ts'
import { a14 } from './checks/a14-intercepted.ts'
import { a15 } from './checks/a15-anonymous-bootstrap.ts'
import { a16 } from './checks/a16-bootstrap-over-privileged.ts'
import { a17 } from './checks/a17-plugin-fails.ts'
import { a18 } from './checks/a18-volatile-directory.ts'
import { a19 } from './checks/a19-static-pods-wait.ts'
import { a20 } from './checks/a20-api-certificate-expires.ts'
import { b01 } from './checks/b01-may-not-create-requests.ts'
import { b02 } from './checks/b02-pairs-of-two-nodes.ts'
import { b03 } from './checks/b03-name-differs.ts'
import { b04 } from './checks/b04-upper-case-name.ts'
import { b05 } from './checks/b05-empty-name.ts'
import { b06 } from './checks/b06-duration-too-short.ts'
import { b07 } from './checks/b07-usages-refused.ts'
import { b08 } from './checks/b08-request-unreadable.ts'
import { b09 } from './checks/b09-name-taken.ts'
import { b10 } from './checks/b10-no-addresses.ts'
import { b11 } from './checks/b11-self-signed-serving.ts'
import { b12 } from './checks/b12-two-serving-certificates.ts'
import { b13 } from './checks/b13-request-storm.ts'
import { b14 } from './checks/b14-request-pile-up.ts'
import { b15 } from './checks/b15-kubelet-too-old.ts'
import { c01 } from './checks/c01-first-request-not-authorised.ts'
import { c02 } from './checks/c02-renewal-not-authorised.ts'
import { c03 } from './checks/c03-no-client-approver.ts'
import { c04 } from './checks/c04-serving-request-waits.ts'
import { c05 } from './checks/c05-san-not-on-node.ts'
import { c06 } from './checks/c06-name-not-resolved.ts'
import { c07 } from './checks/c07-wrong-usages.ts'
import { c08 } from './checks/c08-requester-is-not-the-node.ts'
import { c09 } from './checks/c09-denied.ts'
import { c10 } from './checks/c10-node-missing.ts'
import { c11 } from './checks/c11-old-request-approved.ts'
import { c12 } from './checks/c12-request-vanished.ts'
import { c13 } from './checks/c13-decision-stands.ts'
import { c14 } from './checks/c14-may-not-approve.ts'
import { c15 } from './checks/c15-approver-overloaded.ts'
import { c16 } from './checks/c16-foreign-name-issued.ts'
import { d01 } from './checks/d01-no-signer.ts'
import { d02 } from './checks/d02-controller-manager-down.ts'
import { d03 } from './checks/d03-signing-ca-expired.ts'
import { d04 } from './checks/d04-signing-key-mismatch.ts'
import { d05 } from './checks/d05-two-signing-certificates.ts'
import { d06 } from './checks/d06-signer-refused.ts'
import { d07 } from './checks/d07-cut-off-by-ca.ts'
import { d08 } from './checks/d08-lifetime-capped.ts'
import { d09 } from './checks/d09-provider-does-not-sign.ts'
import { d10 } from './checks/d10-signing-key-unusable.ts'
import { d11 } from './checks/d11-wrong-issuer-key.ts'
import { d12 } from './checks/d12-two-signers.ts'
import { d13 } from './checks/d13-weak-key.ts'
import { e01 } from './checks/e01-dangling-link.ts'
import { e02 } from './checks/e02-current-is-a-file.ts'
import { e03 } from './checks/e03-updated-left.ts'
import { e04 } from './checks/e04-unreadable-pair.ts'
import { e05 } from './checks/e05-key-mismatch.ts'
import { e06 } from './checks/e06-disk-full.ts'
import { e07 } from './checks/e07-permissions.ts'
import { e08 } from './checks/e08-old-pairs.ts'
import { e09 } from './checks/e09-embedded-certificate.ts'
import { e10 } from './checks/e10-other-manager.ts'
import { e11 } from './checks/e11-client-certificate-expired.ts'
import { e12 } from './checks/e12-not-yet-valid.ts'
import { e13 } from './checks/e13-clock-skew.ts'
import { e14 } from './checks/e14-issuer-not-trusted.ts'
import { e15 } from './checks/e15-identity-taken.ts'
import { e16 } from './checks/e16-old-connections.ts'
import { e17 } from './checks/e17-no-rotation.ts'
import { e18 } from './checks/e18-rotation-overdue.ts'
import { e19 } from './checks/e19-life-too-short.ts'
import { e20 } from './checks/e20-node-authorizer-off.ts'
import { e21 } from './checks/e21-kubeconfig-files-missing.ts'
import { g01 } from './checks/g01-no-serving-certificate.ts'
import { g02 } from './checks/g02-verification-before-certificates.ts'
import { g03 } from './checks/g03-kubelets-not-verified.ts'
import { g04 } from './checks/g04-no-ip-san.ts'
import { g05 } from './checks/g05-serving-name-missing.ts'
import { g06 } from './checks/g06-address-changed.ts'
import { g07 } from './checks/g07-serving-expired.ts'
import { g08 } from './checks/g08-kubelet-distrusts-api.ts'
import { g09 } from './checks/g09-old-api-client-certificate.ts'
import { g10 } from './checks/g10-serving-of-other-ca.ts'
import { g11 } from './checks/g11-ready-before-serving.ts'
import { g12 } from './checks/g12-other-nodes-certificate.ts'
import { i01 } from './checks/i01-api-serves-untrusted-ca.ts'
import { i02 } from './checks/i02-kubeconfig-ca-stale.ts'
import { i03 } from './checks/i03-root-ca-unpublished.ts'
import { i04 } from './checks/i04-pods-before-ca.ts'
import { i05 } from './checks/i05-join-path-stale.ts'
import { i06 } from './checks/i06-ca-retired-in-use.ts'
import { i07 } from './checks/i07-silent-in-rotation.ts'
import { i08 } from './checks/i08-paused.ts'
import { i09 } from './checks/i09-bundle-garbage.ts'
import { i10 } from './checks/i10-bundle-form.ts'
import { i11 } from './checks/i11-ca-ends.ts'
import { i12 } from './checks/i12-api-servers-differ.ts'
import { i13 } from './checks/i13-cas-swapped.ts'
import { i14 } from './checks/i14-extension-api-unavailable.ts'
import { i15 } from './checks/i15-called-server-bundle-stale.ts'
import { i16 } from './checks/i16-rotation-left.ts'
import { i17 } from './checks/i17-token-key-changed.ts'
import { i18 } from './checks/i18-own-certificate-of-old-ca.ts'
import { z01 } from './checks/z01-mass-expiry.ts'
import { z02 } from './checks/z02-too-many-requests.ts'
import { z03 } from './checks/z03-kubelet-unreachable.ts'
import { z04 } from './checks/z04-may-not-look.ts'
import { z05 } from './checks/z05-own-certificate-ends.ts'
import { z06 } from './checks/z06-two-approvers.ts'
import { z07 } from './checks/z07-node-lease-stopped.ts'
import { z08 } from './checks/z08-address-claimed-twice.ts'

export const allChecks: readonly Check[] = [
  a01,
  a02,
  a03,
  a04,
  a05,
  a06,
  a07,
  a08,
  a09,
  a10,
  a11,
  a12,
  a13,
  a14,
  a15,
  a16,
  a17,
  a18,
  a19,
  a20,
  b01,
  b02,
  b03,
  b04,
  b05,
  b06,
  b07,
  b08,
  b09,
  b10,
  b11,
  b12,
  b13,
  b14,
  b15,
  c01,
  c02,
  c03,
  c04,
  c05,
  c06,
  c07,
  c08,
  c09,
  c10,
  c11,
  c12,
  c13,
  c14,
  c15,
  c16,
  d01,
  d02,
  d03,
  d04,
  d05,
  d06,
  d07,
  d08,
  d09,
  d10,
  d11,
  d12,
  d13,
  e01,
  e02,
  e03,
  e04,
  e05,
  e06,
  e07,
  e08,
  e09,
  e10,
  e11,
  e12,
  e13,
  e14,
  e15,
  e16,
  e17,
  e18,
  e19,
  e20,
  e21,
  g01,
  g02,
  g03,
  g04,
  g05,
  g06,
  g07,
  g08,
  g09,
  g10,
  g11,
  g12,
  i01,
  i02,
  i03,
  i04,
  i05,
  i06,
  i07,
  i08,
  i09,
  i10,
  i11,
  i12,
  i13,
  i14,
  i15,
  i16,
  i17,
  i18,
  z01,
  z02,
  z03,
  z04,
  z05,
  z06,
  z07,
  z08,
]
