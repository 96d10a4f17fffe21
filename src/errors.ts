/**
 * One table of stable error codes. A code is never renamed; its page is docs/reference/errors.md (generated from here).
 * `status` and `reason` are what the API answers, `exit` is the process's exit code where the error ends a command.
 */
export interface ErrorKind {
  /** What it means and what to do, in one sentence. */
  meaning: string
  /** HTTP status, where the API answers with it. */
  status?: number
  /** Kubernetes' metav1.StatusReason, where the API answers with it. */
  reason?: string
  /** Process exit code: 1 failed, 2 usage. */
  exit?: 1 | 2
}

const kinds = {
  // x509: bytes that are refused
  X509_MALFORMED: {
    meaning: 'The bytes are not strict DER of the expected structure; make the request again.',
    status: 422,
    reason: 'Invalid',
  },
  X509_BAD_SIGNATURE: {
    meaning: 'The signature does not verify with the key in the request or of the issuer.',
    status: 422,
    reason: 'Invalid',
  },
  X509_UNSUPPORTED_KEY: {
    meaning: 'The key type or size is not supported; use ECDSA P-256.',
    status: 422,
    reason: 'Invalid',
  },
  // keys and files
  KEY_MISMATCH: { meaning: 'The certificate and the private key do not belong together.' },
  KEY_URI_INVALID: {
    meaning: 'The URI of a signing key cannot be used; the sentence says which part and why.',
    exit: 2,
  },
  PKCS11_UNAVAILABLE: {
    meaning:
      'No PKCS#11 module can be loaded; check its path, and run `npm rebuild pkcs11js` where that is missing.',
    exit: 1,
  },
  TOKEN_ABSENT: { meaning: 'The PKCS#11 token is not there; connect it or correct its name.', exit: 1 },
  TOKEN_KEY_ABSENT: { meaning: 'The token holds no such key; make it or correct its name.', exit: 1 },
  TOKEN_FAILED: { meaning: 'The PKCS#11 module failed; it is tried again. Look at its own log.', exit: 1 },
  PIN_UNREADABLE: { meaning: 'The file with the PIN is missing, empty or open to others.', exit: 1 },
  PIN_WRONG: {
    meaning: 'The token refused the PIN. It is not tried again until the PIN file holds another one.',
    exit: 1,
  },
  PIN_LAST_TRY: {
    meaning:
      'One more wrong PIN would lock the token, so none is tried; log in once by hand with the right one.',
    exit: 1,
  },
  PIN_LOCKED: {
    meaning: 'The token locked itself after too many wrong PINs; its security officer must set a new one.',
    exit: 1,
  },
  MECHANISM_MISSING: { meaning: 'The token cannot sign with a key of this type; use another one.', exit: 1 },
  TPM_ABSENT: {
    meaning:
      'The TPM cannot be opened or does not answer; look at its device and its rights. It is tried again.',
    exit: 1,
  },
  TPM_REFUSED: {
    meaning: 'The TPM refused a command; its response code is told. It is tried again.',
    exit: 1,
  },
  TPM_MALFORMED: {
    meaning:
      'The bytes are not what a TPM 2.0 gives, or of a kind that is not supported (RSA-2048, ECC P-256).',
    exit: 1,
  },
  KUBELET_UNIT_FAILED: {
    meaning:
      'systemd cannot tell of the kubelet beside the agent, or restart it; the sentence has its words.',
    exit: 1,
  },
  SOCKET_UNUSABLE: {
    meaning: 'The unix socket of the agent cannot be served or trusted; the sentence says why.',
    exit: 1,
  },
  SIGNER_UNREACHABLE: {
    meaning: 'The external signer does not answer, or not as the protocol says; it is tried again.',
    exit: 1,
  },
  STORE_CORRUPT: {
    meaning: 'A certificate store holds a file that cannot be used; the last good pair is used instead.',
  },
  // kube: the client side
  API_UNREACHABLE: {
    meaning: 'No connection to the Kubernetes API; check the server address and that it runs.',
    exit: 1,
  },
  API_STATUS: { meaning: 'The Kubernetes API refused the request; its own message follows.', exit: 1 },
  KUBECONFIG_INVALID: {
    meaning: 'The kubeconfig cannot be used; the sentence says which field and why.',
    exit: 2,
  },
  SELECTOR_INVALID: {
    meaning: 'A label or field selector cannot be parsed or names a field that cannot be selected on.',
    status: 400,
    reason: 'BadRequest',
  },
  PATCH_MALFORMED: {
    meaning: 'The patch is not of the form that its media type promises; nothing was changed.',
    status: 400,
    reason: 'BadRequest',
  },
  PATCH_NOT_APPLICABLE: {
    meaning: 'The patch is well formed but does not fit the object (a test failed, a path is missing).',
    status: 422,
    reason: 'Invalid',
  },
  PROTOBUF_MALFORMED: {
    meaning: 'The body is not the protobuf form of a Kubernetes object that is served here.',
    status: 400,
    reason: 'BadRequest',
  },
  APPROVAL_REFUSED: {
    meaning:
      'The request was not decided as asked; the sentence says which name is unproven or what stands against it.',
    exit: 1,
  },
  // join
  CSR_DENIED: { meaning: "The request was denied; the reason and message are the approver's." },
  CSR_FAILED: { meaning: 'The signer refused the approved request; the message says which rule.' },
  CSR_TIMEOUT: { meaning: 'No certificate was issued in time; look at `rollcall csr explain`.' },
  CSR_GONE: { meaning: 'The request was deleted or replaced while the node waited for it.' },
  CREDENTIAL_UNAVAILABLE: { meaning: 'No credential of the chain can be used now; each source says why.' },
  CLOCK_SUSPECT: {
    meaning:
      'The times of a certificate that was issued just now do not fit the clock here; set the clock of node or signer.',
  },
  ATTESTATION_REFUSED: {
    meaning:
      'The machine is not let in by its key: unknown, not approved yet, revoked or not proven; the sentence says which.',
    exit: 1,
  },
  CONFIG_INVALID: {
    meaning: 'The configuration file cannot be used; the sentence says where and why.',
    exit: 2,
  },
  // approve and sign
  POLICY_INVALID: {
    meaning: 'The approval policy cannot be used; the sentence says which value and why.',
    exit: 2,
  },
  INVENTORY_INVALID: {
    meaning: 'The inventory is malformed; the sentence says where. Its last good content goes on to count.',
  },
  SIGNER_UNUSABLE: {
    meaning: 'A signer has no usable CA: one certificate, not expired, whose key is the one that signs.',
    exit: 1,
  },
  CERTIFICATE_UNFIT: {
    meaning:
      'The certificate about to be issued breaks a rule every certificate must keep; nothing was signed.',
  },
  LEDGER_FULL: {
    meaning:
      'The ledger of certificates has no room for another one, so it is not handed out; the sentence says which part is full.',
  },
  AUDIT_UNWRITABLE: {
    meaning:
      'The decision log cannot be written, so nothing is decided until it can: a decision that nobody can look up is none.',
    exit: 1,
  },
  PREPARED_SPENT: {
    meaning: 'A prepared certificate was already signed, or is not for this CA; prepare it again.',
  },
  // trust and rollover
  TRUST_BUNDLE_REFUSED: {
    meaning:
      'A bundle of trust anchors is not taken; the sentence says which rule. What was trusted before still is.',
    exit: 1,
  },
  TRUST_CEREMONY_INVALID: {
    meaning: 'The trust roots are asked to sign something unfit; nothing was signed.',
    exit: 1,
  },
  CROSS_SIGN_REFUSED: {
    meaning: 'A CA cannot be signed by the other one; the sentence says why. Rotate with bridge: None.',
    exit: 1,
  },
  SEALED_UNREADABLE: {
    meaning:
      'A secret that travels sealed cannot be opened here; it is sealed anew for the key this process has.',
  },
  CONTROL_PLANE_UNFIT: {
    meaning:
      'The control plane of this node is not laid out as kubeadm does it, so none of it is changed; the sentence says what.',
    exit: 1,
  },
  CONTROL_PLANE_ORDER_REFUSED: {
    meaning:
      'An order to the control plane of this node is not obeyed; the sentence says why. Nothing was changed.',
  },
  CA_NOT_PREPARED: {
    meaning:
      'The CA that comes next cannot be made as things are; the sentence says what people have to settle.',
    exit: 1,
  },
  NOT_LEADING: { meaning: 'Another controller leads; this one does nothing until it leads itself.' },
  LOCKED_OUT: {
    meaning:
      'An order of a CA rollover is not carried out, because the controller would lose its own way to the API; give it the kubeconfig that the sentence asks for.',
    exit: 1,
  },
  ROLLOVER_STATE_LOST: {
    meaning:
      'A CA was changed, and what says which one is in force is gone or spoiled: nothing is signed and nothing is published, since the first CA may have been dropped for good reason. Bring the ConfigMap that the sentence names back.',
    exit: 1,
  },
  HOOK_FAILED: {
    meaning:
      'A command of the file of --rollover failed; the sentence names it and tells the end of what it wrote. Put it right, then `rollcall ca resume`.',
    exit: 1,
  },
  // pods
  POD_RUNTIME_UNAVAILABLE: {
    meaning: 'Static pods cannot be run now; the sentence says what is missing. It is tried again.',
    exit: 1,
  },
  CRI_FAILED: {
    meaning:
      'A call of the container runtime failed; the sentence names the call, the socket and what the runtime said.',
  },
  POD_CONTAINER_NOT_STARTED: {
    meaning: 'A container of a static pod could not be started; the sentence says why. It is tried again.',
  },
  POD_VOLUME_NOT_READY: {
    meaning: 'A hostPath of a static pod is not what its type says; the pod waits for it.',
  },
  POD_UNKNOWN: { meaning: 'There is no static pod, container or log of this name on the node.', exit: 1 },
  // apiserver: the embedded API
  STORAGE_FAILED: {
    meaning:
      'The state database refused a write or cannot be opened; nothing was changed. Check free space, owner and mode.',
    status: 500,
    reason: 'InternalError',
    exit: 1,
  },
  // the programs
  DIRECTORY_IN_USE: {
    meaning: 'Another rollcall process holds the data directory; stop it or give another --dir.',
    exit: 1,
  },
  DIRECTORY_UNUSABLE: {
    meaning: 'The data directory cannot be written; check its owner, mode and free space.',
    exit: 1,
  },
  PORT_IN_USE: { meaning: 'The port is taken; give another --port.', exit: 1 },
  RENEWAL_STOPPED: {
    meaning: 'Nodes that were ordered to renew did not come back in time, so no others were asked.',
    exit: 1,
  },
  USAGE: { meaning: 'The command line cannot be understood.', exit: 2 },
} satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof kinds

export const errorKinds: Readonly<Record<ErrorCode, ErrorKind>> = kinds

/** An error with a stable code. `message` says what happened, to which object, and what to do; never a secret. */
export class RollcallError extends Error {
  readonly code: ErrorCode
  /** Facts for machines (names, numbers); never a secret. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: ErrorCode,
    message: string,
    details: Record<string, unknown> = {},
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = 'RollcallError'
    this.code = code
    this.details = details
  }
}

/** Whether `error` is a RollcallError with this code. */
export function hasCode(error: unknown, code: ErrorCode): error is RollcallError {
  return error instanceof RollcallError && error.code === code
}

/** The `code` of a node:fs, node:net or node:tls error, or undefined. A RollcallError says more in its message. */
export function systemCode(error: unknown): string | undefined {
  if (error instanceof RollcallError) return undefined
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
