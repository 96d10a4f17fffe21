/** What `csr explain` says: a state named for what was observed, who has to act, why, and what to paste. */

export type CsrState = 'Pending' | 'Denied' | 'ApprovedUnsigned' | 'Failed' | 'Issued'

export interface Evidence {
  /** What was seen. */
  fact: string
  /** Where: object and field, or the question that was asked. */
  source: string
}

export interface Command {
  /** To paste into a shell; names in it are quoted where they need it. */
  run: string
  /** What it does. */
  purpose: string
}

export interface Explanation {
  request: string
  state: CsrState
  /** One sentence: what is so. */
  summary: string
  /** Who has to do something before it goes on; absent when nobody has to. */
  waitsFor?: string
  /** Stable code of what is wrong; absent when nothing is. */
  code?: ExplanationCode
  evidence: Evidence[]
  commands: Command[]
  /** What could not be looked at, and why. */
  unchecked: string[]
}

export type ExplanationCode =
  | 'Superseded'
  | 'Held'
  | 'NotAuthorised'
  | 'WouldBeRefused'
  | 'NoPolicy'
  | 'NoApprover'
  | 'NeedsOperator'
  | 'Unreadable'
  | 'Denied'
  | 'NoSigner'
  | 'SignerSlow'
  | 'SignerRefused'
  | 'CertificateExpired'
  | 'CertificateUnreadable'
  | 'CertificateForOtherKey'

/** A word for a POSIX shell: quoted unless it is plainly harmless. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** 3: something was found; 4: nothing was, but not everything could be looked at; 0: all is well. */
export function exitCodeOf({ code, unchecked }: Explanation): 0 | 3 | 4 {
  if (code) return 3
  return unchecked.length > 0 ? 4 : 0
}
