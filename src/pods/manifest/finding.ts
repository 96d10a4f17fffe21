/** What was found in a manifest. An `error` keeps the pod from running, a `warning` does not. */
export interface Finding {
  severity: 'error' | 'warning'
  reason:
    | 'Unreadable'
    | 'Malformed'
    | 'OpenToAll'
    | 'Invalid'
    | 'Unsupported'
    | 'ApiReference'
    | 'UnknownField'
    | 'Duplicate'
    | 'IgnoredFile'
  /** Names field and value, and what to do. */
  message: string
}

export function refusal(reason: Finding['reason'], message: string): Finding {
  return { severity: 'error', reason, message }
}

export function warning(reason: Finding['reason'], message: string): Finding {
  return { severity: 'warning', reason, message }
}

export function isRefusal({ severity }: Finding): boolean {
  return severity === 'error'
}
