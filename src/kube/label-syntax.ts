/** Kubernetes' rules for label keys and values (apimachinery validation), which selectors and metadata share. */

const namePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

const namePartText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

const tooLong = (bytes: number) => `must be no more than ${bytes} bytes`

/** IsDNS1123Subdomain: complaints, empty when `value` is a subdomain of at most 253 bytes. */
export function dns1123SubdomainComplaints(value: string): string[] {
  const complaints: string[] = []
  if (value.length > 253) complaints.push(tooLong(253))
  if (!subdomain.test(value)) complaints.push(subdomainText)
  return complaints
}

/** IsQualifiedName: complaints about a label or annotation key, `prefix/name` or `name`. */
export function qualifiedNameComplaints(value: string): string[] {
  const parts = value.split('/')
  if (parts.length > 2) {
    return [
      `a qualified name ${namePartText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const complaints: string[] = []
  const name = parts.at(-1) ?? ''
  if (parts.length === 2) {
    const prefix = parts[0] ?? ''
    if (prefix === '') complaints.push('prefix part must be non-empty')
    else complaints.push(...dns1123SubdomainComplaints(prefix).map(text => `prefix part ${text}`))
  }
  if (name === '') complaints.push('name part must be non-empty')
  else if (name.length > 63) complaints.push(`name part ${tooLong(63)}`)
  if (!namePart.test(name)) complaints.push(`name part ${namePartText}`)
  return complaints
}

/** IsValidLabelValue: complaints about a label value, which may be empty and has at most 63 bytes. */
export function labelValueComplaints(value: string): string[] {
  const complaints: string[] = []
  if (value.length > 63) complaints.push(tooLong(63))
  if (value !== '' && !namePart.test(value)) {
    complaints.push(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start " +
        "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for " +
        "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    )
  }
  return complaints
}
