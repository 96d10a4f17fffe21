/** Texts of Kubernetes 1.36 and of Rollcall's agent that nothing but a log tells: the API keeps no trace of what it refused. */
export const logPatterns = {
  B06: /may not specify a duration less than 600 seconds/i,
  B07: /spec\.usages(\[\d+\])?: (Required|Unsupported|Duplicate|Invalid) value/i,
  B08: /spec\.request: Invalid value|PEM block type must be CERTIFICATE REQUEST/i,
  // K-23
  B09: /retrieved csr is not compatible/i,
  // K-40, and our own agent's words for it
  C12: /\bcsr "[^"]+" was deleted|CertificateSigningRequest "[^"]+" was deleted before/i,
  //
  C13: /Approved and Denied conditions are mutually exclusive|updates may not remove a condition of type/i,
  C14: /not permitted to approve requests with signerName/i,
  rotating: /Rotating certificates/i,
  renewed: /rotation deadline/i,
  // K-51
  reconnected: /Certificate rotation detected/i,
  unauthorized: /\bUnauthorized\b|the server has asked for the client to provide credentials/i,
} as const

/** Whether one of them is in the line. */
export function tells(line: string): boolean {
  return Object.values(logPatterns).some(pattern => pattern.test(line))
}
