/** All codes a verdict can have. Stable: those of Approve and Deny become the condition's `reason`, all appear in Events and metrics. */

interface ReasonMeaning {
  /** What the verdict may be, as `csr explain` and the metrics name it; `Warning`: told beside an approval. */
  outcomes: string
  meaning: string
  /** Who can do what. */
  remedy: string
}

export const reasonCodes = {
  SansProven: {
    outcomes: 'Approve',
    meaning: 'Every SAN of the serving request is proven; the message names the source of each.',
    remedy: '',
  },
  AutoApproved: {
    outcomes: 'Approve',
    meaning: 'The client request was approved after a SubjectAccessReview, as Kubernetes does (C-13).',
    remedy: '',
  },
  MachineAttested: {
    outcomes: 'Approve',
    meaning: 'The machine has proven which one it is, and attested the key of the request.',
    remedy: '',
  },
  SanIncomplete: {
    outcomes: 'Warning',
    meaning: 'The node did not ask for one of its InternalIPs, by which clients reach it.',
    remedy: 'See that the kubelet knows the address (--node-ip, cloud provider).',
  },
  SanTrailingDot: {
    outcomes: 'Warning',
    meaning: 'A DNS SAN ends in a dot: no client will ever verify it.',
    remedy: 'Correct the DHCP domain or the host name of the node.',
  },
  SanContested: {
    outcomes: 'Warning',
    meaning: 'Another node claims the same name or address; this one keeps it.',
    remedy: 'Look at the other node: it is misconfigured, or somebody is root on it.',
  },
  HeldElsewhere: {
    outcomes: 'Warning',
    meaning: 'Another living node holds a valid certificate for the same name or address.',
    remedy: 'Delete that Node if it is gone; otherwise its certificate is good until it expires.',
  },
  NotOurs: {
    outcomes: 'Ignore',
    meaning: 'The request is for a signer that is not judged here.',
    remedy: 'Its own approver, or `kubectl certificate approve`.',
  },
  AlreadyDecided: { outcomes: 'Ignore', meaning: 'It is approved, denied, failed or issued.', remedy: '' },
  Deleting: { outcomes: 'Ignore', meaning: 'The request is being deleted.', remedy: '' },
  ForeignDecision: {
    outcomes: 'Ignore',
    meaning: 'Somebody else decided; the message says what the verdict here would have been.',
    remedy:
      'If it was no person, let one approver decide: for kubelet-serving Kubernetes has none of its own.',
  },
  NoPolicy: {
    outcomes: 'Hold',
    meaning: 'No policy says how serving requests are judged, or the one that was written cannot be used.',
    remedy:
      'Create a CertificatePolicy named default, start `rollcall controller` with --policy, or decide by hand.',
  },
  RequesterNotNode: {
    outcomes: 'Deny, Ignore',
    meaning:
      'Who asks is neither a node with both of its groups nor, for a client certificate, a bootstrap identity.',
    remedy:
      'Look at spec.username and spec.groups; map the identity to system:nodes, or add its group to bootstrapGroups.',
  },
  Malformed: {
    outcomes: 'Deny',
    meaning: 'spec.request is not one PKCS#10 in strict DER, or two parsers could read it differently.',
    remedy: 'Make the request with a kubelet or openssl; the message says what is odd.',
  },
  BadSignature: {
    outcomes: 'Deny',
    meaning: 'The request is not signed with the key in it.',
    remedy: 'Make a new request.',
  },
  WeakKey: {
    outcomes: 'Deny',
    meaning: 'The key type, its size or the signature algorithm is not accepted.',
    remedy: 'Use ECDSA P-256 and SHA-256.',
  },
  KeyReused: {
    outcomes: 'Deny',
    meaning:
      'Another node has a live certificate for the same key: it was copied, with an image or by a thief.',
    remedy: 'Make a new key on each machine; delete the Node that is gone where a machine was renamed.',
  },
  HoldExpired: {
    outcomes: 'Deny',
    meaning: 'Nobody decided a held request in time.',
    remedy: 'The node asks again by itself; `rollcall csr approve` the new request.',
  },
  SubjectMismatch: {
    outcomes: 'Deny',
    meaning: 'The subject is not exactly O=system:nodes and CN=system:node:<name of the node that asks>.',
    remedy: 'A kubelet does this right by itself; look at who made the request.',
  },
  UsagesInvalid: {
    outcomes: 'Deny',
    meaning: "The usages are not those of the signer's profile.",
    remedy:
      'digital signature and server auth (serving) or client auth (client), with or without key encipherment.',
  },
  ForbiddenExtension: {
    outcomes: 'Deny',
    meaning: 'The request asks for an extension other than subjectAltName.',
    remedy: 'Leave it out; usages belong in spec.usages.',
  },
  ForbiddenSanType: {
    outcomes: 'Deny',
    meaning: 'A SAN is neither a DNS name nor an IP address, or a client request has one.',
    remedy: 'Leave it out.',
  },
  InvalidSan: {
    outcomes: 'Deny',
    meaning: 'A DNS SAN is no host name, or there is no SAN.',
    remedy: 'Correct the host name; a node without addresses waits for its cloud provider.',
  },
  SanNotAllowed: {
    outcomes: 'Deny',
    meaning: 'A SAN is not among the names or in the ranges that the policy allows, or there are too many.',
    remedy: 'Correct the name of the node, or `sans` of the policy.',
  },
  LifetimeOutOfRange: {
    outcomes: 'Deny',
    meaning:
      'spec.expirationSeconds is not within `lifetime` of the policy, or it is absent where another signer than Rollcall’s would say how long.',
    remedy:
      'Ask for less; or for none where Rollcall signs: then the certificate lives as long as the policy allows.',
  },
  ReservedName: {
    outcomes: 'Deny',
    meaning:
      'A SAN belongs to the cluster itself or to every host: services, API servers, loopback, wildcards.',
    remedy:
      'allowedRanges for loopback and published addresses; inventory for a node that does hold a published one.',
  },
  OwnedByOtherNode: {
    outcomes: 'Deny, Wait',
    meaning:
      'Another node keeps the name or address: stronger evidence, live certificate, earlier claim or older Node.',
    remedy: 'Delete the Node that is gone, or write the address into the inventory.',
  },
  NodeNotFound: {
    outcomes: 'Wait, Deny',
    meaning: 'There is no Node of the name in the subject.',
    remedy: 'See why the kubelet does not register.',
  },
  NodeExists: {
    outcomes: 'Deny',
    meaning:
      'A bootstrap identity asks for a node that is there, or whose machine has joined by the inventory, and the policy says rebootstrap: deny (or bootstrap: Inventory and nothing else).',
    remedy: 'Delete the Node, then the node can bootstrap.',
  },
  MachineUnknown: {
    outcomes: 'Wait, Deny',
    meaning: 'The policy says bootstrap: Inventory, and no inventory has an entry for the node.',
    remedy: 'Enter the machine, or find out who asks with a bootstrap credential.',
  },
  MachineNotReady: {
    outcomes: 'Wait, Deny',
    meaning: 'The inventory has the machine as Pending or Deleting.',
    remedy: 'See that whoever runs the machines says so once it is ready.',
  },
  JoinWindowMissed: {
    outcomes: 'Deny',
    meaning: 'A node asks for its first certificate at another time than soon after its machine was made.',
    remedy:
      'Raise joinWindowSeconds, or make the machine anew; somebody may try names with a bootstrap credential.',
  },
  EvidenceUnavailable: {
    outcomes: 'Retry',
    meaning: 'The inventory cannot be read, which says nothing about the node.',
    remedy: 'The message says why; nothing is denied for it.',
  },
  InventoryAmbiguous: {
    outcomes: 'Deny',
    meaning: 'The inventory has several entries for the node.',
    remedy: 'Leave one.',
  },
  SanUnproven: {
    outcomes: 'Wait, Deny',
    meaning: 'A SAN lacks evidence at the level that the policy asks for.',
    remedy:
      'Set the address on the Node, or write it into the inventory; until waitSeconds are over it is approved then.',
  },
  Superseded: {
    outcomes: 'Deny',
    meaning: 'The node has made a newer request for the same signer since.',
    remedy: '',
  },
  Throttled: {
    outcomes: 'Wait, Deny',
    meaning: 'The node was approved more often within the hour than approvalsPerHour.',
    remedy: 'See why it asks so often.',
  },
  ManualApproval: {
    outcomes: 'Hold',
    meaning: 'No rule objects; the policy or the pool of the node is in mode manual, so a person decides.',
    remedy: '`rollcall csr approve`, or `mode: enforce` in the policy.',
  },
  DryRun: {
    outcomes: 'Ignore',
    meaning:
      'The policy or the pool of the node is in mode dryRun: the message says what would have been decided.',
    remedy: '`mode: enforce` in the policy, or decide by hand.',
  },
  IdentityNotRead: {
    outcomes: 'Retry',
    meaning: 'The NodeIdentity of an attested machine was not read yet.',
    remedy: '',
  },
  AttestationUnknown: {
    outcomes: 'Deny',
    meaning: 'The token of an attested machine was minted for another node, or for none.',
    remedy: 'The agent attests again by itself; a request by hand is somebody with a stolen token.',
  },
  AttestedOtherKey: {
    outcomes: 'Deny',
    meaning: 'The request has another key than the one that the machine attested.',
    remedy: 'The agent attests again by itself; a request by hand is somebody with a stolen token.',
  },
  AttestationUsed: {
    outcomes: 'Deny',
    meaning: 'The token of the attested machine has led to a certificate already.',
    remedy: 'The agent attests again by itself.',
  },
  AttestationInUse: {
    outcomes: 'Retry',
    meaning: 'Another request has the same token, and is approved but has no certificate yet.',
    remedy: 'See why the signer does not sign the other one.',
  },
  IdentityRevoked: {
    outcomes: 'Deny',
    meaning: 'The NodeIdentity was revoked, or set back, after the machine got its token.',
    remedy: 'Delete the NodeIdentity to let a machine claim the name anew.',
  },
  AccessNotReviewed: {
    outcomes: 'Retry',
    meaning: 'No SubjectAccessReview was made yet.',
    remedy: '',
  },
  NotAuthorised: {
    outcomes: 'Retry',
    meaning: 'A SubjectAccessReview does not allow the client request (C-14).',
    remedy: 'Bind the requester to system:certificates.k8s.io:certificatesigningrequests:nodeclient.',
  },
} as const satisfies Record<string, ReasonMeaning>

export type ReasonCode = keyof typeof reasonCodes
